// Losses whose target has the input's shape, and their gradients.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };  // at::Reduction

Expr Reduced(Expr x, int64_t reduction) {
  if (reduction == kNone) return x;
  const Dims all = AllDims(x.rank());
  const Expr sum = {x.builder(), x.builder().ReduceSum(x, all)};
  return reduction == kSum ? sum : sum / static_cast<double>(x.num_elements());
}
// What the incoming gradient is divided by.
Expr ScaledGradient(Expr grad, int64_t reduction, int64_t n) {
  return reduction == kMean ? grad / static_cast<double>(n) : grad;
}

// (self, target, reduction) with a formula of both.
template <auto kFormula>
Values Loss(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  return {Reduced(kFormula(Operand(args, 0, compute), Operand(args, 1, compute)), args.integer(2))
              .As(dtype)};
}
// (grad, self, target, reduction): the formula gives d loss / d self.
template <auto kFormula>
Values LossBackward(Builder&, Args& args) {
  const DType dtype = args.ResultType({1, 2});
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 1, compute);
  const Expr slope = kFormula(x, Operand(args, 2, compute));
  const Expr grad =
      ScaledGradient(Operand(args, 0, compute), args.integer(3), slope.num_elements());
  return {(slope * grad).As(dtype)};
}

Expr SquaredError(Expr x, Expr y) {
  const Expr d = x - y;
  return d * d;
}

// (self, target, reduction, beta)
Values LowerSmoothL1(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  const Expr z = Abs(Operand(args, 0, compute) - Operand(args, 1, compute));
  const double beta = args.number_or(3, 1.0);
  const Expr loss = beta == 0 ? z : Select(z < beta, z * z * 0.5 / beta, z - 0.5 * beta);
  return {Reduced(loss, args.integer(2)).As(dtype)};
}
// (grad, self, target, reduction, beta)
Values LowerSmoothL1Backward(Builder&, Args& args) {
  const DType dtype = args.ResultType({1, 2});
  const DType compute = ComputeType(dtype);
  const Expr d = Operand(args, 1, compute) - Operand(args, 2, compute);
  const double beta = args.number(4);
  const Expr grad = ScaledGradient(Operand(args, 0, compute), args.integer(3), d.num_elements());
  const Expr inside = beta == 0 ? d * 0.0 : d / beta;
  const Expr slope = Select(d <= -beta, d.Like(-1), Select(d >= beta, d.Like(1), inside));
  return {(slope * grad).As(dtype)};
}

// (self, target, reduction, delta)
Values LowerHuber(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  const Expr z = Abs(Operand(args, 0, compute) - Operand(args, 1, compute));
  const double delta = args.number_or(3, 1.0);
  const Expr loss = Select(z < delta, z * z * 0.5, (z - 0.5 * delta) * delta);
  return {Reduced(loss, args.integer(2)).As(dtype)};
}
// (grad, self, target, reduction, delta)
Values LowerHuberBackward(Builder&, Args& args) {
  const DType dtype = args.ResultType({1, 2});
  const DType compute = ComputeType(dtype);
  const Expr d = Operand(args, 1, compute) - Operand(args, 2, compute);
  const double delta = args.number(4);
  const Expr grad = ScaledGradient(Operand(args, 0, compute), args.integer(3), d.num_elements());
  const Expr slope = Minimum(Maximum(d, -delta), delta);
  return {(slope * grad).As(dtype)};
}

// (self, target, weight, reduction); logarithms are held above -100, as on CPU.
Values LowerBce(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 0, compute);
  const Expr y = Operand(args, 1, compute);
  ReportOutsideUnitInterval(args, 0, x);
  ReportOutsideUnitInterval(args, 1, y);
  Expr loss = (y - 1.0) * Maximum(Log1p(-x), -100.0) - y * Maximum(Log(x), -100.0);
  if (!args.is_none(2)) loss = loss * Operand(args, 2, compute);
  return {Reduced(loss, args.integer(3)).As(dtype)};
}
// (grad, self, target, weight, reduction)
Values LowerBceBackward(Builder&, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 1, compute);
  const Expr y = Operand(args, 2, compute);
  const Expr grad = Operand(args, 0, compute);
  Expr result = grad * (x - y) / Maximum((1.0 - x) * x, 1e-12);
  if (!args.is_none(3)) result = result * Operand(args, 3, compute);
  return {ScaledGradient(result, args.integer(4), x.num_elements()).As(dtype)};
}
// (self, target, weight, pos_weight, reduction)
Values LowerBceLogits(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 0, compute);
  const Expr y = Operand(args, 1, compute);
  // -log(sigmoid(x)), stable on both sides.
  const Expr log_sigmoid = Minimum(x, 0.0) - Log1p(Exp(-Abs(x)));
  Expr loss = (1.0 - y) * x;
  if (args.is_none(3)) {
    loss = loss - log_sigmoid;
  } else {
    const Expr weight = (Operand(args, 3, compute) - 1.0) * y + 1.0;
    loss = loss - weight * log_sigmoid;
  }
  if (!args.is_none(2)) loss = loss * Operand(args, 2, compute);
  return {Reduced(loss, args.integer(4)).As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::mse_loss", Loss<SquaredError>},
    {"aten::mse_loss_backward", LossBackward<[](Expr x, Expr y) { return (x - y) * 2.0; }>},
    {"aten::soft_margin_loss", Loss<[](Expr x, Expr y) { return Log1p(Exp(-(x * y))); }>},
    {"aten::soft_margin_loss_backward", LossBackward<[](Expr x, Expr y) {
       const Expr z = Exp(-(x * y));
       return -(y * z) / (z + 1.0);
     }>},
    {"aten::smooth_l1_loss", LowerSmoothL1},
    {"aten::smooth_l1_loss_backward", LowerSmoothL1Backward},
    {"aten::huber_loss", LowerHuber},
    {"aten::huber_loss_backward", LowerHuberBackward},
    {"aten::binary_cross_entropy", LowerBce},
    {"aten::binary_cross_entropy_backward", LowerBceBackward},
    {"aten::binary_cross_entropy_with_logits", LowerBceLogits},
};

}  // namespace

constinit const std::span<const Row> kLossRows = kRows;

}  // namespace neuron::lowering
