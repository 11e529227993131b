// x[i, :, j] and its assignment, and the forms with one index tensor along a dimension.
#include "lowering/cast.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

// Advanced indexing reduced to rows: the indexed dimensions come first and are one, the index
// tensors are one s32 tensor.
struct Advanced {
  Dims order;        // permutation of x: indexed dimensions, then the others
  Dims index_dims;   // what the index tensors broadcast to
  Dims rest;         // extents of the other dimensions
  int64_t rows = 1;  // product of the indexed extents
  Expr index;        // [index_dims...]
  // Where the index dims stand in the result: in place of adjacent indexed dimensions, else first.
  int64_t position = 0;
};

// The mask, if the only index is one and it leads: x[mask, ...].
std::optional<Expr> OnlyMask(Args& args, size_t argument) {
  const std::vector<Value> given = args.tensors(argument);
  if (given.empty() || !given[0].valid()) return std::nullopt;
  for (size_t i = 1; i < given.size(); ++i)
    if (given[i].valid()) return std::nullopt;
  const Expr mask = {args.builder(), given[0]};
  if (mask.dtype() != DType::kPred && mask.dtype() != DType::kU8) return std::nullopt;
  return mask.dtype() == DType::kPred ? mask : mask != 0.0;
}

// Dims without the first `n`.
Dims Behind(const Dims& dims, int64_t n) { return {dims.begin() + n, dims.end()}; }

// Refuses masks: their results' shapes depend on data.
std::optional<Advanced> ReadIndices(Args& args, Expr x, size_t argument) {
  Builder& b = args.builder();
  const std::vector<Value> given = args.tensors(argument);
  Advanced a;
  std::vector<Expr> indices;
  Dims dimensions;
  for (size_t d = 0; d < given.size(); ++d) {
    if (!given[d].valid()) continue;
    const Expr index = {b, given[d]};
    if (index.dtype() == DType::kPred || index.dtype() == DType::kU8) {
      b.Fail(Unimplemented(args.overload(), ": a mask as an index (argument ", argument,
                           "); its result's shape depends on data"));
      return std::nullopt;
    }
    const Extent extent = {x.dims()[d], static_cast<int64_t>(d)};
    indices.push_back(CheckedIndex(args, index, extent, static_cast<int32_t>(argument), true));
    dimensions.push_back(static_cast<int64_t>(d));
  }
  if (indices.empty()) {
    b.Fail(Unimplemented(args.overload(), ": no index tensor"));
    return std::nullopt;
  }
  a.index_dims = BroadcastDims(indices);
  for (size_t k = 0; k < indices.size(); ++k) {
    const int64_t extent = x.dims()[static_cast<size_t>(dimensions[k])];
    const Expr index = indices[k].BroadcastTo(a.index_dims);
    a.index = k == 0 ? index : a.index * index.LikeInt(extent) + index;
    a.rows *= extent;
  }
  a.order = dimensions;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (std::ranges::find(dimensions, d) != dimensions.end()) continue;
    a.order.push_back(d);
    a.rest.push_back(x.dims()[static_cast<size_t>(d)]);
  }
  const bool adjacent =
      dimensions.back() - dimensions.front() + 1 == static_cast<int64_t>(dimensions.size());
  a.position = adjacent ? dimensions.front() : 0;
  return a;
}

// [rows, rest...]
Expr AsRows(Expr x, const Advanced& a) {
  Builder& b = x.builder();
  Dims dims = {a.rows};
  dims.insert(dims.end(), a.rest.begin(), a.rest.end());
  const Expr ordered = std::ranges::is_sorted(a.order) ? x : Expr(b, b.Transpose(x, a.order));
  return Reshaped(ordered, dims);
}
// The permutation from [index..., rest...] to the result, or back.
Dims ResultOrder(const Advanced& a, bool inverse) {
  const auto n = static_cast<int64_t>(a.index_dims.size());
  const auto m = static_cast<int64_t>(a.rest.size());
  Dims order;
  for (int64_t d = 0; d < a.position; ++d) order.push_back(n + d);
  for (int64_t d = 0; d < n; ++d) order.push_back(d);
  for (int64_t d = a.position; d < m; ++d) order.push_back(n + d);
  if (!inverse) return order;
  Dims back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return back;
}
Expr Permuted(Expr x, const Dims& order) {
  if (std::ranges::is_sorted(order)) return x;
  return {x.builder(), x.builder().Transpose(x, order)};
}

// x[mask]: as many rows as the mask has set elements, of the dimensions behind it.
Values LowerMaskedRows(Args& args, Expr x, Expr mask) {
  Builder& b = args.builder();
  const int64_t n = mask.num_elements();
  Dims dims = Behind(x.dims(), mask.rank());
  dims.insert(dims.begin(), n);
  const Expr flat = Reshaped(mask, {n});
  args.SetRows(b.ReduceSum(flat.As(DType::kS32), {0}), {0});
  return {Compacted(Reshaped(x, dims), flat, RunningCount(flat))};
}

Values LowerIndex(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  if (const auto mask = OnlyMask(args, 1)) return LowerMaskedRows(args, x, *mask);
  const auto a = ReadIndices(args, x, 1);
  if (!a) return {};
  // One index tensor is a gather along its dimension, without moving anything.
  if (a->rows == x.dims()[static_cast<size_t>(a->order[0])] &&
      a->rest.size() + 1 == x.dims().size())
    return {TakeAlong(x, a->order[0], a->index)};
  return {Permuted(TakeAlong(AsRows(x, *a), 0, a->index), ResultOrder(*a, false))};
}

// x[mask] = values needs no index. `values` is either one row for all set elements, or has a row
// per element of the mask, of which the first belong to the set ones in order (the caller sees to
// that, since how many there are depends on data).
std::optional<Expr> PutMasked(Args& args, Expr x) {
  const auto mask = OnlyMask(args, 1);
  if (!mask) return std::nullopt;
  const bool accumulate = args.flag(3);
  const DType compute = accumulate ? ComputeType(x.dtype()) : x.dtype();
  const Expr values = Cast(Tensor(args, 2), compute);
  const Dims rest = Behind(x.dims(), mask->rank());
  const int64_t n = mask->num_elements();
  if (x.num_elements() == 0) return x;
  Dims dims = {n};
  dims.insert(dims.end(), rest.begin(), rest.end());
  Dims column(dims.size(), 1);
  column[0] = n;
  const Expr flat = Reshaped(*mask, {n});
  const Expr set = Reshaped(flat, column);
  const Expr rows = Reshaped(x.As(compute), dims);
  Expr put = values;
  if (values.rank() == static_cast<int64_t>(dims.size()) && values.dims()[0] == n && n > 1) {
    const Expr all = values.BroadcastTo(dims);
    const Expr place = Maximum(RunningCount(flat) - 1.0, 0.0);
    put = TakeAlong(all, 0, place);
  }
  if (accumulate) put = rows + put;
  return Reshaped(Select(set.BroadcastTo(dims), put.BroadcastTo(dims), rows), x.dims())
      .As(x.dtype());
}

// (self, indices, values, accumulate)
Values LowerIndexPut(Builder&, Args& args) {
  const Expr self = Tensor(args, 0);
  if (const auto masked = PutMasked(args, self)) return {*masked};
  const auto a = ReadIndices(args, self, 1);
  if (!a) return {};
  const bool accumulate = args.flag(3);
  const DType compute = accumulate ? ComputeType(self.dtype()) : self.dtype();
  Dims result;  // dims of self[indices]
  Dims gathered = a->index_dims;
  gathered.insert(gathered.end(), a->rest.begin(), a->rest.end());
  for (const int64_t d : ResultOrder(*a, false)) result.push_back(gathered[static_cast<size_t>(d)]);
  const Expr values = Operand(args, 2, compute).BroadcastTo(result);
  const Expr rows = AsRows(self.As(compute), *a);
  const Expr updated = ScatterAlong(rows, 0, a->index, Permuted(values, ResultOrder(*a, true)),
                                    accumulate ? ScatterMode::kAdd : ScatterMode::kReplace);
  Dims ordered, back(a->order.size());
  for (size_t i = 0; i < a->order.size(); ++i) {
    ordered.push_back(self.dims()[static_cast<size_t>(a->order[i])]);
    back[static_cast<size_t>(a->order[i])] = static_cast<int64_t>(i);
  }
  return {Permuted(Reshaped(updated, ordered), back).As(self.dtype())};
}

// A scalar self counts as one element.
Expr AtLeast1d(Expr x) { return x.rank() == 0 ? Reshaped(x, {1}) : x; }

// (self, dim, index)
Values LowerIndexSelect(Builder&, Args& args) {
  const Expr self = Tensor(args, 0);
  const Expr x = AtLeast1d(self);
  const int64_t dim = WrapDim(args.integer(1), self.rank());
  const Expr index = AtLeast1d(Tensor(args, 2));
  const Extent extent = {x.dims()[static_cast<size_t>(dim)], dim};
  const Expr y = TakeAlong(x, dim, CheckedIndex(args, index, extent, 2, false));
  return {self.rank() == 0 ? Reshaped(y, {}) : y};
}

// self with `source` combined in along dim at a vector of indices.
Expr PutAlong(Args& args, Expr self, Expr source, ScatterMode mode, bool wraps = false,
              DataError error = DataError::kIndexOutOfRange) {
  const Expr x = AtLeast1d(self);
  const int64_t dim = WrapDim(args.integer(1), self.rank());
  const Expr index = AtLeast1d(Tensor(args, 2));
  const Extent extent = {x.dims()[static_cast<size_t>(dim)], dim, error};
  Dims dims = x.dims();
  dims[static_cast<size_t>(dim)] = index.dims()[0];
  source =
      source.num_elements() == Product(dims) ? Reshaped(source, dims) : source.BroadcastTo(dims);
  const Expr y = ScatterAlong(x, dim, CheckedIndex(args, index, extent, 2, wraps), source, mode);
  return Reshaped(y, self.dims());
}

// (self, dim, index, source, *, alpha)
Values LowerIndexAdd(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  Expr source = Operand(args, 3, compute);
  if (!args.is_none(4) && !args.scalar_is(4, 1)) source = source * Scalar(args, 4, compute);
  const Expr self = Operand(args, 0, compute);
  const DataError error =
      self.rank() > 1 ? DataError::kPlaceOutOfRange : DataError::kIndexOutOfRange;  // as CPU has it
  return {PutAlong(args, self, source, ScatterMode::kAdd, false, error).As(dtype)};
}
Values LowerIndexCopy(Builder&, Args& args) {
  return {PutAlong(args, Tensor(args, 0), Tensor(args, 3), ScatterMode::kReplace)};
}
Values LowerIndexFill(Builder&, Args& args) {
  const Expr self = Tensor(args, 0);
  return {PutAlong(args, self, Operand(args, 3, self.dtype()), ScatterMode::kReplace, true)};
}

// (self, dim, index, source, reduce, *, include_self): prod, mean, amax, amin
Values LowerIndexReduce(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr self = Operand(args, 0, compute), source = Operand(args, 3, compute);
  const std::string_view reduce = args.text(4);
  const bool include_self = args.is_none(5) || args.flag(5);
  const ScatterMode mode = reduce == "prod"   ? ScatterMode::kMultiply
                           : reduce == "amax" ? ScatterMode::kMaximum
                           : reduce == "amin" ? ScatterMode::kMinimum
                                              : ScatterMode::kAdd;
  if (compute == DType::kPred || source.num_elements() == 0 || self.num_elements() == 0) {
    b.Fail(Unimplemented(args.overload(), ": bool or no elements"));
    return {};
  }
  Expr base = self;
  if (!include_self) {
    // Where something arrives, self is forgotten: for extrema by writing one of the arrivals.
    const bool extremum = mode == ScatterMode::kMaximum || mode == ScatterMode::kMinimum;
    const int64_t neutral = mode == ScatterMode::kMultiply ? 1 : 0;
    base =
        PutAlong(args, base, extremum ? source : source.LikeInt(neutral).BroadcastTo(source.dims()),
                 ScatterMode::kReplace);
  }
  Expr y = PutAlong(args, base, source, mode);
  if (reduce == "mean") {
    const Expr ones = source.LikeInt(1).BroadcastTo(source.dims());
    const Expr start = base.LikeInt(include_self ? 1 : 0).BroadcastTo(base.dims());
    const Expr count = Maximum(PutAlong(args, start, ones, ScatterMode::kAdd), base.LikeInt(1));
    const Expr quotient = y / count;
    y = IsSigned(compute) ? Select(((quotient * count) != y) && (y < 0.0), quotient - 1.0, quotient)
                          : quotient;
  }
  return {y.As(dtype)};
}

// Elements by their place in the flattened tensor. (self, index)
Values LowerTake(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  const int64_t n = x.num_elements();
  return {TakeAlong(Reshaped(x, {n}), 0, CheckedIndex(args, Tensor(args, 1), {n}, 1, true))};
}
// (self, index, source, accumulate)
Values LowerPut(Builder&, Args& args) {
  const Expr self = Tensor(args, 0);
  const DType compute = args.flag(3) ? ComputeType(self.dtype()) : self.dtype();
  const int64_t n = self.num_elements();
  const Expr index = CheckedIndex(args, Tensor(args, 1), {n}, 1, true);
  const Expr source = Reshaped(Operand(args, 2, compute), index.dims());
  const Expr y = ScatterAlong(Reshaped(self.As(compute), {n}), 0, index, source,
                              args.flag(3) ? ScatterMode::kAdd : ScatterMode::kReplace);
  return {Reshaped(y, self.dims()).As(self.dtype())};
}

Values LowerMaskedFill(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  const Expr mask = Tensor(args, 1);
  return {Select(mask, Operand(args, 2, x.dtype()), x)};
}

constexpr auto kAny = Native::kAny;
constexpr uint32_t kE = kElementwise;

constexpr Row kRows[] = {
    {"aten::index.Tensor", LowerIndex, kAny},
    {"aten::_unsafe_index.Tensor", LowerIndex, kAny},
    {"aten::index_put", LowerIndexPut},
    {"aten::_unsafe_index_put", LowerIndexPut},
    {"aten::_index_put_impl_", LowerIndexPut, Native::kFloating, kNoFlags, 0, At({0})},
    {"aten::index_select", LowerIndexSelect, kAny},
    {"aten::index_add", LowerIndexAdd, Native::kFloating, kNoFlags, At({4})},
    {"aten::index_copy", LowerIndexCopy, kAny},
    {"aten::index_reduce", LowerIndexReduce, Native::kNone},
    {"aten::index_fill.int_Scalar", LowerIndexFill, kAny, kNoFlags, At({3})},
    {"aten::index_fill.int_Tensor", LowerIndexFill, kAny},
    {"aten::take", LowerTake, kAny},
    {"aten::put", LowerPut},
    {"aten::masked_fill.Scalar", LowerMaskedFill, kAny, kE, At({2})},
    {"aten::masked_fill.Tensor", LowerMaskedFill, kAny, kE, At({2})},
};

}  // namespace

constinit const std::span<const Row> kIndexingRows = kRows;

}  // namespace neuron::lowering
