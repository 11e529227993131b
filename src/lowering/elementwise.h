// How PyTorch wraps a formula: promote the operands, compute in the operation's precision (halves
// in f32), round once into the result. A row names the policy and gives the formula as a lambda:
//
//   {"aten::silu", FloatUnary<[](Expr x) { return x * Logistic(x); }>, Native::kFloating, ...}
#pragma once

#include "lowering/args.h"
#include "lowering/expr.h"
#include "lowering/table.h"

namespace neuron::lowering {

// The dtype arithmetic runs in: f32 for floats of 16 bits and less, else the dtype itself.
inline DType ComputeType(DType dtype) {
  return IsFloating(dtype) && ByteSize(dtype) < 4 ? DType::kF32 : dtype;
}
// The result of an op that leaves the integers: sqrt, div, mean.
inline DType FloatType(const Args& args, DType dtype) {
  return IsFloating(dtype) || IsComplex(dtype) ? dtype : args.default_dtype();
}
inline Expr Operand(Args& args, size_t i, DType dtype) {
  return {args.builder(), args.operand(i, dtype)};
}
// Reports what lies outside of [0, 1], NaN included.
inline void ReportOutsideUnitInterval(Args& args, int32_t operand, Expr x) {
  if (x.num_elements() > 0)
    args.Report(DataError::kOutsideUnitInterval, operand, !((x >= 0.0) && (x <= 1.0)));
}

// As CPU takes an operand: rounded to the promoted dtype, then widened to where it computes.
inline Expr Promoted(Args& args, size_t i, DType dtype) {
  return Operand(args, i, dtype).As(ComputeType(dtype));
}
// CPU's products and quotients take a number as it is.
inline Expr Factor(Args& args, size_t i, DType dtype) {
  return args.is_number(i) ? Operand(args, i, ComputeType(dtype)) : Promoted(args, i, dtype);
}
inline Expr Tensor(Args& args, size_t i) { return {args.builder(), args.tensor(i)}; }
inline Expr Scalar(Args& args, size_t i, DType dtype) {
  return {args.builder(), args.scalar(i, dtype)};
}

// x in its own dtype; integers pass through the formula as they are.
template <auto kFormula>
Values SameUnary(hlo::Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  return {kFormula(Operand(args, 0, ComputeType(dtype))).As(dtype)};
}

// Integers become the default float.
template <auto kFormula>
Values FloatUnary(hlo::Builder&, Args& args) {
  const DType dtype = FloatType(args, args.dtype_of(0));
  return {kFormula(Operand(args, 0, ComputeType(dtype))).As(dtype)};
}

// x in its own dtype, result pred.
template <auto kFormula>
Values Predicate(hlo::Builder&, Args& args) {
  return {kFormula(Tensor(args, 0))};
}

// Arguments 0 and 1 promoted (tensor or number), result in the promoted dtype.
template <auto kFormula, auto kOperand = Promoted>
Values SameBinary(hlo::Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  return {kFormula(kOperand(args, 0, dtype), kOperand(args, 1, dtype)).As(dtype)};
}

template <auto kFormula, auto kOperand = Promoted>
Values FloatBinary(hlo::Builder&, Args& args) {
  const DType dtype = FloatType(args, args.ResultType({0, 1}));
  return {kFormula(kOperand(args, 0, dtype), kOperand(args, 1, dtype)).As(dtype)};
}

// Promoted and compared, result pred.
template <auto kFormula>
Values Comparison(hlo::Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  return {kFormula(Promoted(args, 0, dtype), Promoted(args, 1, dtype))};
}

// A formula that reads further arguments itself: (Args&, compute dtype) -> Expr. The result dtype
// is that of the tensors at positions 0 and 1 (0 alone where 1 is no tensor).
template <auto kFormula>
Values Pointwise1(hlo::Builder&, Args& args) {
  const DType dtype = FloatType(args, args.dtype_of(0));
  return {kFormula(args, ComputeType(dtype)).As(dtype)};
}
template <auto kFormula>
Values Pointwise2(hlo::Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  return {kFormula(args, ComputeType(dtype)).As(dtype)};
}

}  // namespace neuron::lowering
