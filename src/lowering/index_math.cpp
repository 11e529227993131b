#include "lowering/index_math.h"

#include <cstring>

namespace neuron::lowering {

using hlo::Builder;
using hlo::Shape;
using hlo::Value;

IndexWords SplitIndex(Expr index) {
  IndexWords words;
  words.low = index.As(DType::kS32);
  if (index.dtype() != DType::kS64) return words;
  words.high = Apply(hlo::Opcode::kShiftRightArithmetic, index, index.LikeInt(32)).As(DType::kS32);
  words.beyond =
      words.high != Apply(hlo::Opcode::kShiftRightArithmetic, words.low, words.low.LikeInt(31));
  return words;
}

Expr CheckedIndex(Args& args, Expr index, Extent extent, int32_t operand, bool wraps) {
  const int64_t size = extent.size;
  const IndexWords words = SplitIndex(index);
  const Expr i = words.low;
  Expr bad = (i < i.LikeInt(wraps ? -size : 0)) || (i >= i.LikeInt(size));
  if (words.high.valid()) bad = bad || words.beyond;
  args.Report(extent.error, operand, bad, i, words.high, extent);
  const Expr wrapped = wraps ? Select(i < 0.0, i + i.LikeInt(size), i) : i;
  return Minimum(Maximum(wrapped, 0.0), wrapped.LikeInt(std::max<int64_t>(size - 1, 0)));
}

Expr TakeAlong(Expr x, int64_t dim, Expr index) {
  Builder& b = x.builder();
  if (index.num_elements() == 0) {  // x may have nothing to take either, which a gather refuses
    Dims dims = x.dims();
    dims.erase(dims.begin() + dim);
    dims.insert(dims.begin() + dim, index.dims().begin(), index.dims().end());
    return {b, b.Full(Shape::Array(x.dtype(), dims), 0)};
  }
  hlo::GatherDimensions dims;
  dims.collapsed_slice_dims = {dim};
  dims.start_index_map = {dim};
  dims.index_vector_dim = index.rank();
  dims.slice_sizes = x.dims();
  dims.slice_sizes[static_cast<size_t>(dim)] = 1;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d < dim) dims.offset_dims.push_back(d);
    if (d > dim) dims.offset_dims.push_back(d - 1 + index.rank());
  }
  return {b, b.Gather(x, index, dims)};
}

Expr ScatterAlong(Expr x, int64_t dim, Expr index, Expr updates, ScatterMode mode) {
  Builder& b = x.builder();
  hlo::ScatterDimensions dims;
  dims.inserted_window_dims = {dim};
  dims.scatter_dims_to_operand_dims = {dim};
  dims.index_vector_dim = index.rank();
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d < dim) dims.update_window_dims.push_back(d);
    if (d > dim) dims.update_window_dims.push_back(d - 1 + index.rank());
  }
  const auto combiner = [&]() -> hlo::Computation* {
    switch (mode) {
      case ScatterMode::kAdd:
        return b.Combiner(x.dtype() == DType::kPred ? hlo::Opcode::kOr : hlo::Opcode::kAdd,
                          x.dtype());
      case ScatterMode::kMultiply:
        return b.Combiner(x.dtype() == DType::kPred ? hlo::Opcode::kAnd : hlo::Opcode::kMultiply,
                          x.dtype());
      case ScatterMode::kMaximum:
        return b.Combiner(hlo::Opcode::kMaximum, x.dtype());
      case ScatterMode::kMinimum:
        return b.Combiner(hlo::Opcode::kMinimum, x.dtype());
      case ScatterMode::kReplace:
        break;
    }
    const Shape scalar = Shape::Array(x.dtype(), {});
    return b.SubComputation("replace", {scalar, scalar},
                            [](Builder&, std::span<const Value> p) { return p[1]; });
  };
  return {b, b.Scatter(x, index, updates, dims, combiner())};
}

Expr RunningCount(Expr mask) {
  Builder& b = mask.builder();
  const Expr ones = mask.As(DType::kS32);
  const int64_t n = mask.num_elements();
  if (n == 0) return ones;
  std::vector<hlo::WindowDimension> window(1);
  window[0].size = n;
  window[0].padding_low = n - 1;
  return {
      b, b.ReduceWindow(ones, ones.LikeInt(0), window, b.Combiner(hlo::Opcode::kAdd, DType::kS32))};
}

Expr RunningMax(Expr x, int64_t dim) {
  Builder& b = x.builder();
  if (x.num_elements() == 0) return x;
  std::vector<hlo::WindowDimension> window(x.dims().size());
  const int64_t n = x.dims()[static_cast<size_t>(dim)];
  window[static_cast<size_t>(dim)].size = n;
  window[static_cast<size_t>(dim)].padding_low = n - 1;
  return {b, b.ReduceWindow(x, x.LikeInt(INT32_MIN), window,
                            b.Combiner(hlo::Opcode::kMaximum, DType::kS32))};
}

Expr Compacted(Expr x, Expr mask, Expr rank) {
  Builder& b = x.builder();
  const int64_t n = mask.num_elements();
  if (x.num_elements() == 0) return x;
  // What is not wanted goes behind the end, where a scatter drops it.
  const Expr place = Select(mask, rank - 1.0, rank.LikeInt(n));
  const Expr zeros = {b, b.Full(Shape::Array(x.dtype(), x.dims()), 0)};
  return ScatterAlong(zeros, 0, place, x, ScatterMode::kReplace);
}

// The smallest index whose value is extreme: two plain reductions of a row that stays in SBUF.
Located Locate(Expr x, int64_t dim, bool max) {
  if (x.dtype() == DType::kPred) x = x.As(DType::kS32);
  const Dims dims = {dim};
  const Expr value = max ? KeepMax(x, dims) : KeepMin(x, dims);
  const Expr position = IotaS32(x.builder(), x.dims(), dim);
  Expr hit = x == value;
  if (IsFloating(x.dtype())) hit = hit || IsNan(x);
  const Expr beyond = position.LikeInt(x.dims()[static_cast<size_t>(dim)]);
  return {value, KeepMin(Select(hit, position, beyond), dims)};
}

namespace {

// Integers that order as PyTorch orders x: NaN above all, -0 equal to 0. So the comparator is one
// integer comparison whatever the dtype.
Expr SortKey(Expr x) {
  Builder& b = x.builder();
  if (!IsFloating(x.dtype())) {
    return IsWide(x.dtype()) ? x : x.As(DType::kS32);
  }
  const bool wide = x.dtype() == DType::kF64;
  const DType bits = wide ? DType::kS64 : DType::kS32;
  const Expr f = wide ? x : x.As(DType::kF32);
  const Expr clean = Select(f == 0.0, 0.0, f);
  const Expr i = {b, b.BitcastConvert(clean, bits)};
  const Expr top = i.LikeInt(wide ? INT64_MAX : INT32_MAX);
  return Select(IsNan(f), top, Select(i < 0.0, i ^ top, i));
}

}  // namespace

Sorted SortAlong(Expr x, int64_t dim, bool descending) {
  Builder& b = x.builder();
  const Expr key = SortKey(x);
  const Value operands[] = {key, IotaS32(b, x.dims(), dim), x};
  const auto scalar = [](DType dtype) { return Shape::Array(dtype, {}); };
  const DType place = DType::kS32;
  hlo::Computation* before = b.SubComputation(
      descending ? "after" : "before",
      {scalar(key.dtype()), scalar(key.dtype()), scalar(place), scalar(place), scalar(x.dtype()),
       scalar(x.dtype())},
      [&](Builder& inner, std::span<const Value> p) {
        return inner.Compare(descending ? hlo::Comparison::kGt : hlo::Comparison::kLt, p[0], p[1]);
      });
  const std::vector<Value> sorted = b.Sort(operands, dim, true, before);
  return {{b, sorted[2]}, {b, sorted[1]}};
}

namespace {

template <typename T>
Expr ConstantVector(Builder& b, DType dtype, const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const Shape shape = Shape::Array(dtype, {static_cast<int64_t>(values.size())});
  return {b, b.Constant(hlo::Literal(shape, std::move(bytes)))};
}

}  // namespace

Expr ConstantS32(Builder& b, const std::vector<int64_t>& values) {
  return ConstantVector(b, DType::kS32, std::vector<int32_t>(values.begin(), values.end()));
}
Expr ConstantF32(Builder& b, const std::vector<float>& values) {
  return ConstantVector(b, DType::kF32, values);
}

}  // namespace neuron::lowering
