// Rows of a table, reduced by bags: runs of the indices that begin at given offsets.
#include <limits>

#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

enum class Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

Expr Zeros(Builder& b, DType dtype, const Dims& dims) {
  return {b, b.Full(Shape::Array(dtype, dims), 0)};
}
Expr AsColumn(Expr x) { return Reshaped(x, {x.num_elements(), 1}); }

// Which bag each of n indices is in: as many as offsets are not behind it, less one.
Expr BagOf(Args& args, size_t offsets, int64_t n) {
  Builder& b = args.builder();
  const Expr at = CheckedIndex(args, Tensor(args, offsets), {n + 1, 0, DataError::kPlaceOutOfRange},
                               static_cast<int32_t>(offsets), false);
  const Expr ones = {b, b.Full(Shape::Array(DType::kS32, at.dims()), 1)};
  const Expr marks = ScatterAlong(Zeros(b, DType::kS32, {n + 1}), 0, at, ones, ScatterMode::kAdd);
  std::vector<hlo::WindowDimension> window(1);
  window[0].size = n + 1;
  window[0].padding_low = n;
  const Expr count = {b, b.ReduceWindow(marks, marks.LikeInt(0), window,
                                        b.Combiner(hlo::Opcode::kAdd, DType::kS32))};
  return Maximum(Expr(b, b.SliceInDim(count, 0, n, 1, 0)) - 1.0, 0.0);
}

// (weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
//  include_last_offset, padding_idx) -> output, bag of each index, bag sizes, rows of the maxima
Values LowerForward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr weight = Operand(args, 0, compute), offsets = Tensor(args, 2);
  const int64_t rows = weight.dims()[0], width = weight.dims()[1];
  const int64_t n = args.tensor(1).shape().num_elements();
  const bool last = !args.is_none(7) && args.flag(7);
  const int64_t bags = offsets.num_elements() - (last ? 1 : 0);
  const auto mode = static_cast<Mode>(args.integer_or(4, 0));
  const DType index_type = args.dtype_of(1);
  const Dims out_dims = {bags, width};
  if (n == 0 || bags <= 0 || width == 0) {
    return {Zeros(b, dtype, out_dims), Zeros(b, index_type, {n}), Zeros(b, index_type, {bags}),
            Zeros(b, index_type, mode == Mode::kMax ? out_dims : Dims{bags})};
  }
  const Expr index =
      CheckedIndex(args, Tensor(args, 1), {rows, 0, DataError::kPlaceOutOfRange}, 1, false);
  const Expr bag = BagOf(args, 2, n);
  const int64_t padding = args.integer_or(8, -1);
  const Expr counts = padding < 0 ? Expr(b, b.Full(Shape::Array(DType::kPred, {n}), 1))
                                  : index != index.LikeInt(padding);
  // A bag behind the end is where a scatter drops what does not count.
  const Expr target = Select(counts, bag, bag.LikeInt(bags));
  const Expr ones = {b, b.Full(Shape::Array(DType::kS32, {n}), 1)};
  const Expr size = ScatterAlong(Zeros(b, DType::kS32, {bags}), 0, target, ones, ScatterMode::kAdd);
  Expr taken = TakeAlong(weight, 0, index);
  if (!args.is_none(6)) taken = taken * AsColumn(Operand(args, 6, compute));
  Expr out, maxima = Zeros(b, index_type, {bags});
  if (mode == Mode::kMax) {
    const Expr lowest = taken.Like(-std::numeric_limits<double>::infinity()).BroadcastTo(out_dims);
    const Expr top = ScatterAlong(lowest, 0, target, taken, ScatterMode::kMaximum);
    const Expr hit = taken == TakeAlong(top, 0, bag);
    const Expr place = IotaS32(b, {n, width}, 0);
    const Expr beyond = place.LikeInt(n).BroadcastTo(out_dims);
    const Expr first = ScatterAlong(beyond, 0, target, Select(hit, place, place.LikeInt(n)),
                                    ScatterMode::kMinimum);
    const Expr is_empty = AsColumn(size == 0.0).BroadcastTo(out_dims);
    out = Select(is_empty, 0.0, top);
    maxima = TakeAlong(index, 0, Minimum(first, first.LikeInt(n - 1))).As(index_type);
  } else {
    out = ScatterAlong(Zeros(b, compute, out_dims), 0, target, taken, ScatterMode::kAdd);
    if (mode == Mode::kMean) out = out / AsColumn(Maximum(size, 1.0).As(compute));
  }
  return {out.As(dtype), bag.As(index_type), size.As(index_type), maxima};
}

// What both dense gradients share: (grad, indices, offset2bag, bag_size, maximum_indices,
// num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx) at these positions.
struct Positions {
  size_t bag, size, maxima, rows, by_frequency, mode, samples, padding;
};
Values Backward(Builder& b, Args& args, const Positions& at) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute);
  const int64_t rows = args.integer(at.rows), width = grad.dims()[1], bags = grad.dims()[0];
  const auto mode = static_cast<Mode>(args.integer(at.mode));
  const int64_t n = args.tensor(1).shape().num_elements();
  const Expr zeros = Zeros(b, compute, {rows, width});
  if (n == 0 || grad.num_elements() == 0) return {zeros.As(dtype)};
  const Expr size = Tensor(args, at.size).As(DType::kS32);
  if (mode == Mode::kMax) {
    const Expr row = Tensor(args, at.maxima).As(DType::kS32);
    const Expr column = IotaS32(b, {bags, width}, 1);
    const Expr place = row * row.LikeInt(width) + column;
    const Expr target = Select(AsColumn(size == 0.0).BroadcastTo({bags, width}),
                               place.LikeInt(rows * width), place);
    const Expr flat =
        ScatterAlong(Reshaped(zeros, {rows * width}), 0, Reshaped(target, {bags * width}),
                     Reshaped(grad, {bags * width}), ScatterMode::kAdd);
    return {Reshaped(flat, {rows, width}).As(dtype)};
  }
  const Expr index = Tensor(args, 1).As(DType::kS32), given = Tensor(args, at.bag);
  // A forward of the CPU may leave the bags to be found again.
  const bool known = given.num_elements() == n;
  if (!known && at.bag == 2) {
    b.Fail(Unimplemented(args.overload(), ": neither bags nor offsets"));
    return {};
  }
  const Expr bag = known ? given.As(DType::kS32) : BagOf(args, 2, n);
  Expr taken = TakeAlong(grad, 0, bag);
  if (mode == Mode::kMean)
    taken = taken / AsColumn(TakeAlong(Maximum(size, 1.0), 0, bag).As(compute));
  if (!args.is_none(at.samples)) taken = taken * AsColumn(Operand(args, at.samples, compute));
  if (args.flag(at.by_frequency)) {
    const Expr ones = {b, b.Full(Shape::Array(compute, {n}), 1)};
    const Expr uses = ScatterAlong(Zeros(b, compute, {rows}), 0, index, ones, ScatterMode::kAdd);
    taken = taken / AsColumn(TakeAlong(uses, 0, index));
  }
  const int64_t padding = args.integer_or(at.padding, -1);
  const Expr target =
      padding < 0 ? index : Select(index == index.LikeInt(padding), index.LikeInt(rows), index);
  return {ScatterAlong(zeros, 0, target, taken, ScatterMode::kAdd).As(dtype)};
}

// (grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq,
//  mode, sparse, per_sample_weights, padding_idx)
Values LowerBackward(Builder& b, Args& args) {
  if (args.flag(9)) {
    b.Fail(Unimplemented(args.overload(), ": a sparse gradient"));
    return {};
  }
  return Backward(b, args,
                  {.bag = 3,
                   .size = 4,
                   .maxima = 5,
                   .rows = 6,
                   .by_frequency = 7,
                   .mode = 8,
                   .samples = 10,
                   .padding = 11});
}
Values LowerDenseBackward(Builder& b, Args& args) {
  return Backward(b, args,
                  {.bag = 2,
                   .size = 3,
                   .maxima = 4,
                   .rows = 5,
                   .by_frequency = 6,
                   .mode = 7,
                   .samples = 8,
                   .padding = 9});
}

// (grad, weight, indices, offsets, offset2bag, mode, padding_idx): of a sum, per index
Values LowerSampleWeightsBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute), weight = Operand(args, 1, compute);
  const Expr index = Tensor(args, 2).As(DType::kS32), given = Tensor(args, 4);
  const int64_t n = index.num_elements();
  if (n == 0) return {Zeros(b, dtype, index.dims())};
  const Expr bag = given.num_elements() == n ? given.As(DType::kS32) : BagOf(args, 3, n);
  const Expr product = TakeAlong(grad, 0, bag) * TakeAlong(weight, 0, index);
  const Expr sum = {b, b.ReduceSum(product, {1})};
  const int64_t padding = args.integer_or(6, -1);
  return {(padding < 0 ? sum : Select(index == index.LikeInt(padding), 0.0, sum)).As(dtype)};
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::_embedding_bag", LowerForward, kNone, kOwnShapes},
    {"aten::_embedding_bag_forward_only", LowerForward, kNone, kOwnShapes},
    {"aten::_embedding_bag_backward", LowerBackward, kNone, kOwnShapes},
    {"aten::_embedding_bag_dense_backward", LowerDenseBackward, kNone, kOwnShapes},
    {"aten::_embedding_bag_per_sample_weights_backward", LowerSampleWeightsBackward, kNone,
     kOwnShapes},
};

}  // namespace

constinit const std::span<const Row> kEmbeddingBagRows = kRows;

}  // namespace neuron::lowering
