// Negative log likelihood. Forward, each row's element is gathered; backward, the target picks it
// by a comparison with the class number, since every element of the gradient is to be written.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

// x is [C] or [N, C, ...], target [] or [N, ...]; classes are dimension `axis`.
struct Target {
  Expr index;  // s32, target's dims, as given
  Expr valid;  // pred: not ignored
  int64_t axis, classes;
};

Target ReadTarget(Args& args, const Expr& x, size_t argument, int64_t ignore_index) {
  const IndexWords words = SplitIndex(Tensor(args, argument));
  const Expr index = words.low;
  const int64_t axis = x.rank() == 1 ? 0 : 1;
  const int64_t classes = x.dims()[static_cast<size_t>(axis)];
  Expr ignored = index == index.LikeInt(ignore_index);
  Expr outside = (index < 0.0) || (index >= index.LikeInt(classes));
  if (words.high.valid()) {
    ignored = ignored && !words.beyond;
    outside = outside || words.beyond;
  }
  args.Report(DataError::kIndexOutOfRange, static_cast<int32_t>(argument), !ignored && outside,
              index, words.high, {classes, axis});
  return {index, !ignored, axis, classes};
}

Expr Clamped(const Target& target) {
  const Expr index = target.index;
  return Maximum(Minimum(index, index.LikeInt(target.classes - 1)), index.LikeInt(0));
}

// The elements of x that the targets name, with the targets' dims; any element for those ignored.
Expr Picked(Expr x, const Target& target) {
  Builder& b = x.builder();
  const Expr index = target.index;
  const Expr legal = Clamped(target);
  const Dims& rows = index.dims();
  Expr position = legal;  // ((n * classes) + class) * d + ...
  for (size_t d = 0; d < rows.size(); ++d) {
    const Expr place = IotaS32(b, rows, static_cast<int64_t>(d));
    position = d == 0 ? place * place.LikeInt(target.classes) + legal
                      : position * place.LikeInt(rows[d]) + place;
  }
  const int64_t count = index.num_elements();
  return Reshaped(TakeAlong(Reshaped(x, {x.num_elements()}), 0, Reshaped(position, {count})), rows);
}

// The class weights shaped to stretch over x.
Expr WeightOf(Args& args, size_t i, const Expr& x, DType dtype) {
  Dims dims(x.dims().size(), 1);
  const size_t axis = x.rank() == 1 ? 0 : 1;
  dims[axis] = x.dims()[axis];
  return Reshaped(Operand(args, i, dtype), dims);
}

// (self, target, weight, reduction, ignore_index) -> output, total_weight
Values LowerForward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr x = Tensor(args, 0);
  const int64_t reduction = args.integer(3);
  const Target target = ReadTarget(args, x, 1, args.integer(4));
  const bool weighted = !args.is_none(2);
  Expr weight;
  if (weighted) {
    const Expr flat = Reshaped(Clamped(target), {target.index.num_elements()});
    weight = Reshaped(TakeAlong(Tensor(args, 2), 0, flat), target.index.dims()).As(compute);
  }
  Expr loss = -Picked(x, target).As(compute);
  if (weighted) loss = loss * weight;
  loss = Select(target.valid, loss, 0.0);
  if (reduction == 0) return {loss.As(dtype), b.Constant(dtype, 0.0)};
  const Expr counted = weighted ? Select(target.valid, weight, 0.0) : target.valid.As(compute);
  const Dims all = AllDims(loss.rank());
  const Expr sum = {b, b.ReduceSum(loss, all)};
  const Expr total = {b, b.ReduceSum(counted, all)};
  return {(reduction == 1 ? sum / total : sum).As(dtype), total.As(dtype)};
}

// (grad_output, self, target, weight, reduction, ignore_index, total_weight)
Values LowerBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 1, compute);
  const int64_t reduction = args.integer(4);
  const Target target = ReadTarget(args, x, 2, args.integer(5));
  Dims kept = x.dims();
  kept[static_cast<size_t>(target.axis)] = 1;
  const Expr hit = (IotaS32(b, x.dims(), target.axis) == Reshaped(target.index, kept)) &&
                   Reshaped(target.valid, kept);
  Expr grad = Operand(args, 0, compute);
  if (reduction == 0) {
    grad = Reshaped(grad, kept);
  } else if (reduction == 1) {
    grad = grad / Operand(args, 6, compute);
  }
  Expr slope = -grad;
  if (!args.is_none(3)) slope = slope * WeightOf(args, 3, x, compute);
  return {Select(hit, slope, 0.0).As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::nll_loss_forward", LowerForward},
    {"aten::nll_loss_backward", LowerBackward},
    {"aten::nll_loss2d_forward", LowerForward},
    {"aten::nll_loss2d_backward", LowerBackward},
};

}  // namespace

constinit const std::span<const Row> kNllLossRows = kRows;

}  // namespace neuron::lowering
