// gather and scatter: an index per element along one dimension, done on flat memory.
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

Expr AtLeast1d(Expr x) { return x.rank() == 0 ? Reshaped(x, {1}) : x; }

// Flat positions in a tensor of `dims` whose coordinate along `dim` is `index`, the others its own.
Expr FlatPositions(Args& args, const Dims& dims, int64_t dim, Expr index) {
  Builder& b = args.builder();
  const int64_t extent = dims[static_cast<size_t>(dim)];
  const Expr checked =
      CheckedIndex(args, index, {extent, dim, DataError::kPlaceOutOfRange}, 2, false);
  Expr position;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Expr coordinate = static_cast<int64_t>(d) == dim
                                ? checked
                                : IotaS32(b, index.dims(), static_cast<int64_t>(d));
    position = d == 0 ? coordinate : position * position.LikeInt(dims[d]) + coordinate;
  }
  return Reshaped(position, {index.num_elements()});
}

// (self, dim, index, sparse_grad)
Values LowerGather(Builder&, Args& args) {
  const Expr self = Tensor(args, 0);
  const Expr x = AtLeast1d(self);
  const Expr index = Tensor(args, 2);
  const Expr position =
      FlatPositions(args, x.dims(), WrapDim(args.integer(1), self.rank()), AtLeast1d(index));
  return {Reshaped(TakeAlong(Reshaped(x, {x.num_elements()}), 0, position), index.dims())};
}

// The part of src that index covers, flat.
Expr Covered(Expr src, const Expr& index) {
  Builder& b = src.builder();
  const Expr s = AtLeast1d(src);
  const Dims zeros(s.dims().size(), 0), ones(s.dims().size(), 1);
  return Reshaped({b, b.Slice(s, zeros, index.dims(), ones)}, {index.num_elements()});
}

struct Target {
  Expr flat, index, position;
  Dims dims;
};
Target ReadTarget(Args& args, DType compute) {
  const Expr self = Operand(args, 0, compute);
  const Expr index = AtLeast1d(Tensor(args, 2));
  const Expr x = AtLeast1d(self);
  return {Reshaped(x, {x.num_elements()}), index,
          FlatPositions(args, x.dims(), WrapDim(args.integer(1), self.rank()), index), self.dims()};
}

// Argument 3 as values for each index: a tensor cut to the index's dims, or a number.
Expr ReadUpdates(Args& args, const Target& t, bool number, DType compute) {
  if (!number) return Covered(Operand(args, 3, compute), t.index);
  return Operand(args, 3, compute).BroadcastTo({t.index.num_elements()});
}

template <bool kNumber>  // (self, dim, index, src or value)
Values LowerScatter(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Target t = ReadTarget(args, dtype);
  const Expr updates = ReadUpdates(args, t, kNumber, dtype);
  return {Reshaped(ScatterAlong(t.flat, 0, t.position, updates, ScatterMode::kReplace), t.dims)};
}

Values LowerScatterAdd(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Target t = ReadTarget(args, compute);
  const Expr updates = ReadUpdates(args, t, false, compute);
  return {
      Reshaped(ScatterAlong(t.flat, 0, t.position, updates, ScatterMode::kAdd), t.dims).As(dtype)};
}

template <bool kNumber>  // (self, dim, index, src or value, *, reduce): add or multiply
Values LowerScatterReduce(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Target t = ReadTarget(args, compute);
  const Expr updates = ReadUpdates(args, t, kNumber, compute);
  const ScatterMode mode = args.text(4) == "multiply" ? ScatterMode::kMultiply : ScatterMode::kAdd;
  return {Reshaped(ScatterAlong(t.flat, 0, t.position, updates, mode), t.dims).As(dtype)};
}

// (self, dim, index, src, reduce, *, include_self): sum, prod, mean, amax, amin
Values LowerScatterReduceTwo(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  if (compute == DType::kPred) {
    b.Fail(Unimplemented("scatter_reduce: bool"));
    return {};
  }
  const Target t = ReadTarget(args, compute);
  const Expr updates = ReadUpdates(args, t, false, compute);
  const std::string_view reduce = args.text(4);
  const bool include_self = args.is_none(5) || args.flag(5);
  const ScatterMode mode = reduce == "prod"   ? ScatterMode::kMultiply
                           : reduce == "amax" ? ScatterMode::kMaximum
                           : reduce == "amin" ? ScatterMode::kMinimum
                                              : ScatterMode::kAdd;
  Expr base = t.flat;
  if (!include_self) {
    // Where something arrives, self is forgotten: for extrema by writing one of the arrivals.
    const bool extremum = mode == ScatterMode::kMaximum || mode == ScatterMode::kMinimum;
    const Expr neutral =
        extremum ? updates
                 : base.LikeInt(mode == ScatterMode::kMultiply ? 1 : 0).BroadcastTo(updates.dims());
    base = ScatterAlong(base, 0, t.position, neutral, ScatterMode::kReplace);
  }
  Expr y = ScatterAlong(base, 0, t.position, updates, mode);
  if (reduce == "mean") {
    const Expr ones = base.LikeInt(1).BroadcastTo(updates.dims());
    const Expr start = base.LikeInt(include_self ? 1 : 0).BroadcastTo(base.dims());
    const Expr count =
        Maximum(ScatterAlong(start, 0, t.position, ones, ScatterMode::kAdd), base.LikeInt(1));
    const Expr quotient = y / count;
    const bool floors = IsSigned(compute);
    y = floors ? Select(((quotient * count) != y) && (y < 0.0), quotient - 1.0, quotient)
               : quotient;
  }
  return {Reshaped(y, t.dims).As(dtype)};
}

// (grad, input_sizes, dim, size, step): windows may overlap, where their gradients add up.
Values LowerUnfoldBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr grad = Operand(args, 0, ComputeType(dtype));
  const Dims sizes = args.integers(1);
  const int64_t size = args.integer(3), step = args.integer(4);
  Expr zeros = {b, b.Full(hlo::Shape::Array(grad.dtype(), sizes), 0)};
  if (grad.num_elements() == 0) return {zeros.As(dtype)};
  if (sizes.empty()) return {Reshaped(grad, {}).As(dtype)};
  const int64_t dim = WrapDim(args.integer(2), static_cast<int64_t>(sizes.size()));
  Dims order = AllDims(grad.rank());  // a window's elements, which are last, beside its number
  std::rotate(order.begin() + dim + 1, order.end() - 1, order.end());
  const Expr windows = {b, b.Transpose(grad, order)};
  const Dims places = {grad.dims()[static_cast<size_t>(dim)], size};
  const Expr number = IotaS32(b, places, 0);
  const Expr place = number * number.LikeInt(step) + IotaS32(b, places, 1);
  return {ScatterAlong(zeros, dim, place, windows, ScatterMode::kAdd).As(dtype)};
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::gather", LowerGather, kNone},
    {"aten::scatter.src", LowerScatter<false>, kNone},
    {"aten::scatter.value", LowerScatter<true>, kNone, kNoFlags, At({3})},
    {"aten::scatter.reduce", LowerScatterReduce<false>, kNone},
    {"aten::scatter.value_reduce", LowerScatterReduce<true>, kNone, kNoFlags, At({3})},
    {"aten::scatter_add", LowerScatterAdd, kNone},
    {"aten::unfold_backward", LowerUnfoldBackward, kNone},
    {"aten::scatter_reduce.two", LowerScatterReduceTwo, kNone},
};

}  // namespace

constinit const std::span<const Row> kScatterRows = kRows;

}  // namespace neuron::lowering
