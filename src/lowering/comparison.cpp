// Comparisons, logic and bits: promoted, never rounded.
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Opcode;

Expr AsPredicate(Expr x) { return x.dtype() == DType::kPred ? x : x != 0.0; }

template <auto kFormula>
Values Logical(Builder&, Args& args) {
  return {kFormula(AsPredicate(Tensor(args, 0)), AsPredicate(Tensor(args, 1)))};
}

template <Opcode kOpcode>
Values Bitwise(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  return {Apply(kOpcode, Operand(args, 0, dtype), Operand(args, 1, dtype))};
}

// C leaves counts beyond the width open; CPU gives 0, or the sign for a right shift.
template <bool kLeft>
Values Shift(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const Expr x = Operand(args, 0, dtype);
  const Expr count = Operand(args, 1, dtype);
  const int64_t bits = ByteSize(dtype) * 8;
  Expr beyond = count >= count.LikeInt(bits);
  if (!IsUnsigned(dtype)) beyond = beyond || (count < 0.0);
  if (kLeft) return {Select(beyond, 0.0, Apply(Opcode::kShiftLeft, x, count))};
  const Expr safe = Select(beyond, count.LikeInt(bits - 1), count);
  if (!IsUnsigned(dtype)) return {Apply(Opcode::kShiftRightArithmetic, x, safe)};
  return {Select(beyond, 0.0, Apply(Opcode::kShiftRightLogical, x, safe))};
}

constexpr LowerFunction kEq = Comparison<[](Expr a, Expr b) { return a == b; }>;
constexpr LowerFunction kNe = Comparison<[](Expr a, Expr b) { return a != b; }>;
constexpr LowerFunction kLt = Comparison<[](Expr a, Expr b) { return a < b; }>;
constexpr LowerFunction kLe = Comparison<[](Expr a, Expr b) { return a <= b; }>;
constexpr LowerFunction kGt = Comparison<[](Expr a, Expr b) { return (a > b); }>;
constexpr LowerFunction kGe = Comparison<[](Expr a, Expr b) { return (a >= b); }>;

Expr IsInfinite(Expr x) { return !IsFinite(x) && !IsNan(x); }
template <auto kFormula>  // false for integers
Values FloatPredicate(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (!IsFloating(x.dtype()) && !IsComplex(x.dtype()))
    return {b.Full(hlo::Shape::Array(DType::kPred, x.dims()), 0)};
  return {kFormula(x)};
}

Values LowerIsNan(Builder& b, Args& args) { return FloatPredicate<IsNan>(b, args); }
Values LowerIsInf(Builder& b, Args& args) {
  return FloatPredicate<[](Expr x) {
    return IsComplex(x.dtype()) ? IsInfinite(Real(x)) || IsInfinite(Imag(x)) : IsInfinite(x);
  }>(b, args);
}

constexpr uint32_t kE = kElementwise;
constexpr auto kAny = Native::kReal32;

constexpr Row kRows[] = {
    {"aten::eq.Tensor", kEq, kAny, kE, At({1})},
    {"aten::eq.Scalar", kEq, kAny, kE, At({1})},
    {"aten::ne.Tensor", kNe, kAny, kE, At({1})},
    {"aten::ne.Scalar", kNe, kAny, kE, At({1})},
    {"aten::lt.Tensor", kLt, kAny, kE, At({1})},
    {"aten::lt.Scalar", kLt, kAny, kE, At({1})},
    {"aten::le.Tensor", kLe, kAny, kE, At({1})},
    {"aten::le.Scalar", kLe, kAny, kE, At({1})},
    {"aten::gt.Tensor", kGt, kAny, kE, At({1})},
    {"aten::gt.Scalar", kGt, kAny, kE, At({1})},
    {"aten::ge.Tensor", kGe, kAny, kE, At({1})},
    {"aten::ge.Scalar", kGe, kAny, kE, At({1})},
    {"aten::logical_and", Logical<[](Expr a, Expr b) { return a && b; }>, kAny, kE},
    {"aten::logical_or", Logical<[](Expr a, Expr b) { return a || b; }>, kAny, kE},
    {"aten::logical_xor", Logical<[](Expr a, Expr b) { return a ^ b; }>, kAny, kE},
    {"aten::logical_not", Predicate<[](Expr x) { return !AsPredicate(x); }>, kAny, kE},
    {"aten::bitwise_and.Tensor", Bitwise<Opcode::kAnd>, kAny, kE},
    {"aten::bitwise_and.Scalar", Bitwise<Opcode::kAnd>, kAny, kE, At({1})},
    {"aten::bitwise_and.Scalar_Tensor", Bitwise<Opcode::kAnd>, kAny, kE, At({0})},
    {"aten::bitwise_or.Tensor", Bitwise<Opcode::kOr>, kAny, kE},
    {"aten::bitwise_or.Scalar", Bitwise<Opcode::kOr>, kAny, kE, At({1})},
    {"aten::bitwise_or.Scalar_Tensor", Bitwise<Opcode::kOr>, kAny, kE, At({0})},
    {"aten::bitwise_xor.Tensor", Bitwise<Opcode::kXor>, kAny, kE},
    {"aten::bitwise_xor.Scalar", Bitwise<Opcode::kXor>, kAny, kE, At({1})},
    {"aten::bitwise_xor.Scalar_Tensor", Bitwise<Opcode::kXor>, kAny, kE, At({0})},
    {"aten::bitwise_not", SameUnary<[](Expr x) { return !x; }>, kAny, kE},
    {"aten::bitwise_left_shift.Tensor", Shift<true>, kAny, kE},
    {"aten::bitwise_left_shift.Tensor_Scalar", Shift<true>, kAny, kE, At({1})},
    {"aten::bitwise_left_shift.Scalar_Tensor", Shift<true>, kAny, kE, At({0})},
    {"aten::bitwise_right_shift.Tensor", Shift<false>, kAny, kE},
    {"aten::bitwise_right_shift.Tensor_Scalar", Shift<false>, kAny, kE, At({1})},
    {"aten::bitwise_right_shift.Scalar_Tensor", Shift<false>, kAny, kE, At({0})},
#define SHIFT(op, left)                                                        \
  {"aten::__" op "__.Scalar", Shift<left>, kAny, kE, At({1})},                 \
      {"aten::__" op "__.Tensor", Shift<left>, kAny, kE},                      \
      {"aten::__i" op "__.Scalar", Shift<left>, kAny, kE, At({1}), At({0})}, { \
    "aten::__i" op "__.Tensor", Shift<left>, kAny, kE, 0, At({0})              \
  }
    SHIFT("lshift", true),
    SHIFT("rshift", false),
#undef SHIFT
    {"aten::isnan", LowerIsNan, kAny, kE},
    {"aten::isinf", LowerIsInf, kAny, kE},
    {"aten::isposinf", FloatPredicate<[](Expr x) { return IsInfinite(x) && (x > 0.0); }>, kAny, kE},
    {"aten::isneginf", FloatPredicate<[](Expr x) { return IsInfinite(x) && (x < 0.0); }>, kAny, kE},
    {"aten::signbit", Predicate<[](Expr x) {
       if (x.dtype() == DType::kPred) return x && !x;
       if (!IsFloating(x.dtype())) return x < 0.0;
       const Expr wide = x.As(ComputeType(x.dtype()));
       const DType bits = wide.dtype() == DType::kF64 ? DType::kS64 : DType::kS32;
       return Expr(x.builder(), x.builder().BitcastConvert(wide, bits)) < 0.0;
     }>,
     kAny, kE},
};

}  // namespace

constinit const std::span<const Row> kComparisonRows = kRows;

}  // namespace neuron::lowering
