// Making complex numbers, taking them apart, conjugates.
#include <numbers>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

constexpr double kPi = std::numbers::pi;

Values LowerComplex(Builder& b, Args& args) {
  const Expr both[] = {Tensor(args, 0), Tensor(args, 1)};
  const Dims dims = BroadcastDims(both);
  return {b.Complex(both[0].BroadcastTo(dims), both[1].BroadcastTo(dims))};
}
Values LowerPolar(Builder& b, Args& args) {
  const Expr both[] = {Tensor(args, 0), Tensor(args, 1)};
  const Dims dims = BroadcastDims(both);
  return {b.Complex((both[0] * Cos(both[1])).BroadcastTo(dims),
                    (both[0] * Sin(both[1])).BroadcastTo(dims))};
}

// Of a real number: 0, pi below zero, NaN for NaN.
Values LowerAngle(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  if (IsComplex(dtype)) {
    const Expr z = Tensor(args, 0);
    return {Atan2(Imag(z), Real(z))};
  }
  const DType real = FloatType(args, dtype);
  const Expr x = Operand(args, 0, ComputeType(real));
  return {Select(IsNan(x), x, Select(x < 0.0, kPi, x * 0.0)).As(real)};
}

Values LowerConjugate(Builder& b, Args& args) {
  const Expr z = Tensor(args, 0);
  if (!IsComplex(z.dtype())) return {z};
  return {b.Complex(Real(z), -Imag(z))};
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::angle", LowerAngle, Native::kFloating, kElementwise},
    {"aten::complex", LowerComplex, kNone},
    {"aten::polar", LowerPolar, kNone},
    {"aten::_conj", LowerConjugate, kNone, kView},
    {"aten::_conj_physical", LowerConjugate, kNone, kElementwise},
};

}  // namespace

constinit const std::span<const Row> kComplexNumbersRows = kRows;

}  // namespace neuron::lowering
