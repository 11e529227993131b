// Softmax and log-softmax along one dimension, forward and backward.
#include <limits>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

template <bool kLog>  // (self, dim, half_to_float)
Values LowerSoftmax(Builder&, Args& args) {
  const DType dtype = args.flag(2) ? DType::kF32 : args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims dims = x.rank() == 0 ? Dims{} : Dims{WrapDim(args.integer(1), x.rank())};
  const Expr shifted = x - KeepMax(x, dims);
  const Expr e = Exp(shifted);
  const Expr sum = KeepSum(e, dims);
  return {(kLog ? shifted - Log(sum) : e / sum).As(dtype)};
}

// Rows that are -inf throughout give zeros. (self, dim, dtype)
Values LowerSafeSoftmax(Builder&, Args& args) {
  const DType dtype = args.dtype(2).value_or(args.dtype_of(0));
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims dims = x.rank() == 0 ? Dims{} : Dims{WrapDim(args.integer(1), x.rank())};
  const Expr top = KeepMax(x, dims);
  const Expr masked = top == -std::numeric_limits<double>::infinity();
  const Expr e = Exp(x - top);
  return {Select(masked, 0.0, e / KeepSum(e, dims)).As(dtype)};
}

template <bool kLog>  // (grad_output, output, dim, input_dtype)
Values LowerSoftmaxBackward(Builder&, Args& args) {
  const DType dtype = args.dtype(3).value_or(args.dtype_of(0));
  const DType compute = ComputeType(args.dtype_of(0));
  const Expr grad = Operand(args, 0, compute);
  const Expr y = Operand(args, 1, compute);
  const Dims dims = y.rank() == 0 ? Dims{} : Dims{WrapDim(args.integer(2), y.rank())};
  if (kLog) return {(grad - Exp(y) * KeepSum(grad, dims)).As(dtype)};
  return {(y * (grad - KeepSum(grad * y, dims))).As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::_softmax", LowerSoftmax<false>},
    {"aten::_log_softmax", LowerSoftmax<true>},
    {"aten::_safe_softmax", LowerSafeSoftmax},
    {"aten::_softmax_backward_data", LowerSoftmaxBackward<false>},
    {"aten::_log_softmax_backward_data", LowerSoftmaxBackward<true>},
};

}  // namespace

constinit const std::span<const Row> kSoftmaxRows = kRows;

}  // namespace neuron::lowering
