// Negative log likelihood. The target picks one class by a comparison with the class number, so
// that forward and backward are elementwise work and row sums; nothing is gathered.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

struct Picked {
  Expr hit;    // [N, C, ...] pred: this class is the target, and it is not ignored
  Expr valid;  // [N, 1, ...] pred
  Dims rows;   // dims of the target
};

// x is [C] or [N, C, ...], target [] or [N, ...]; classes are dimension `axis`.
Picked Pick(Args& args, Expr x, size_t target_argument, int64_t ignore_index) {
  Builder& b = args.builder();
  const IndexWords words = SplitIndex(Tensor(args, target_argument));
  const Expr target = words.low;
  const int64_t axis = x.rank() == 1 ? 0 : 1;
  const int64_t classes = x.dims()[static_cast<size_t>(axis)];
  Expr ignored = target == target.LikeInt(ignore_index);
  Expr outside = (target < 0.0) || (target >= target.LikeInt(classes));
  if (words.high.valid()) {
    ignored = ignored && !words.beyond;
    outside = outside || words.beyond;
  }
  args.Report(DataError::kIndexOutOfRange, static_cast<int32_t>(target_argument),
              !ignored && outside, target, words.high);
  Dims kept = x.dims();
  kept[static_cast<size_t>(axis)] = 1;
  const Expr column = Reshaped(target, kept);
  const Expr valid = !Reshaped(ignored, kept);
  const Expr hit = (IotaS32(b, x.dims(), axis) == column) && valid;
  return {hit, valid, target.dims()};
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
  const Expr x = Operand(args, 0, compute);
  const Dims axis = {x.rank() == 1 ? 0 : 1};
  const int64_t reduction = args.integer(3);
  const Picked picked = Pick(args, x, 1, args.integer(4));
  const bool weighted = !args.is_none(2);
  const Expr weight = weighted ? WeightOf(args, 2, x, compute) : x.Like(1);
  const Expr loss = KeepSum(Select(picked.hit, -x * weight, 0.0), axis);
  if (reduction == 0) return {Reshaped(loss, picked.rows).As(dtype), b.Constant(dtype, 0.0)};
  const Expr counted =
      weighted ? KeepSum(Select(picked.hit, weight, 0.0), axis) : picked.valid.As(compute);
  const Dims all = AllDims(x.rank());
  const Expr sum = {b, b.ReduceSum(loss, all)};
  const Expr total = {b, b.ReduceSum(counted, all)};
  return {(reduction == 1 ? sum / total : sum).As(dtype), total.As(dtype)};
}

// (grad_output, self, target, weight, reduction, ignore_index, total_weight)
Values LowerBackward(Builder&, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 1, compute);
  const int64_t reduction = args.integer(4);
  const Picked picked = Pick(args, x, 2, args.integer(5));
  Expr grad = Operand(args, 0, compute);
  if (reduction == 0) {
    Dims kept = x.dims();
    kept[x.rank() == 1 ? 0 : 1] = 1;
    grad = Reshaped(grad, kept);
  } else if (reduction == 1) {
    grad = grad / Operand(args, 6, compute);
  }
  Expr slope = -grad;
  if (!args.is_none(3)) slope = slope * WeightOf(args, 3, x, compute);
  return {Select(picked.hit, slope, 0.0).As(dtype)};
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
