#include "isa/operators.h"

#include "base/status.h"

namespace neuron::isa {
namespace {

constexpr std::string_view kShared = "NKI 0.6 reference, supported math operators";
constexpr std::string_view kOurs = "extension: PyTorch semantics";

using enum AluOp;
constexpr AluRow kAlu[] = {
    // op, name, arity, bitvec, reduction, ours, source
    {kBypass, "bypass", 1, false, false, false, kShared},
    {kAdd, "add", 2, false, true, false, kShared},
    {kSubtract, "subtract", 2, false, true, false, kShared},
    {kMultiply, "multiply", 2, false, true, false, kShared},
    {kMaximum, "maximum", 2, false, true, false, kShared},
    {kMinimum, "minimum", 2, false, true, false, kShared},
    {kEqual, "equal", 2, false, false, false, kShared},
    {kNotEqual, "not_equal", 2, false, false, false, kShared},
    {kGreater, "greater", 2, false, false, false, kShared},
    {kGreaterEqual, "greater_equal", 2, false, false, false, kShared},
    {kLess, "less", 2, false, false, false, kShared},
    {kLessEqual, "less_equal", 2, false, false, false, kShared},
    {kLogicalAnd, "logical_and", 2, false, true, false, kShared},
    {kLogicalOr, "logical_or", 2, false, true, false, kShared},
    {kLogicalXor, "logical_xor", 2, false, true, false, kShared},
    {kPower, "power", 2, false, false, false, kShared},
    {kAbsMax, "abs_max", 2, false, true, false, kShared},
    {kAbsMin, "abs_min", 2, false, true, false, kShared},
    {kAbs, "abs", 1, false, false, false, kShared},
    {kSquare, "square", 1, false, false, false, kShared},
    {kRelu, "relu", 1, false, false, false, kShared},
    {kRsqrt, "rsqrt", 1, false, false, false, kShared},
    {kReciprocal, "reciprocal", 1, false, false, false, kShared},
    {kInvert, "invert", 1, true, false, false, kShared},
    {kBitwiseAnd, "bitwise_and", 2, true, true, false, kShared},
    {kBitwiseOr, "bitwise_or", 2, true, true, false, kShared},
    {kBitwiseXor, "bitwise_xor", 2, true, true, false, kShared},
    {kLeftShift, "left_shift", 2, true, false, false, kShared},
    {kRightShift, "right_shift", 2, true, false, false, kShared},
    {kAverage, "average", 2, false, true, false, "NKI 0.6 reference, tensor_partition_reduce"},
    {kDivide, "divide", 2, false, false, true, kOurs},
    {kRemainder, "remainder", 2, false, false, true, kOurs},
    {kArithRightShift, "arith_right_shift", 2, true, false, true, kOurs},
    {kAtan2, "atan2", 2, false, false, true, kOurs},
    {kNextAfter, "next_after", 2, false, false, true, kOurs},
    {kCopysign, "copysign", 2, false, false, true, kOurs},
    {kFloor, "floor", 1, false, false, true, kOurs},
    {kCeil, "ceil", 1, false, false, true, kOurs},
    {kTrunc, "trunc", 1, false, false, true, kOurs},
    {kRoundEven, "round_even", 1, false, false, true, kOurs},
    {kNegate, "negate", 1, false, false, true, kOurs},
    {kSign, "sign", 1, false, false, true, kOurs},
    {kIsFinite, "is_finite", 1, false, false, true, kOurs},
    {kNot, "logical_not", 1, false, false, true, kOurs},
    {kSqrt, "sqrt", 1, false, false, true, kOurs},
    {kCountLeadingZeros, "count_leading_zeros", 1, true, false, true, kOurs},
    {kPopulationCount, "population_count", 1, true, false, true, kOurs},
};

constexpr ActivationRow Public(ActivationFunction function, std::string_view name) {
  return {function, name, false, "NKI 0.6 reference, supported activation functions"};
}
constexpr ActivationRow Ours(ActivationFunction function, std::string_view name) {
  return {function, name, true, kOurs};
}
using F = ActivationFunction;
constexpr ActivationRow kActivations[] = {
    Public(F::kCopy, "copy"),
    Public(F::kSquare, "square"),
    Public(F::kSigmoid, "sigmoid"),
    Public(F::kRelu, "relu"),
    Public(F::kPrelu, "prelu"),
    Public(F::kGelu, "gelu"),
    Public(F::kGeluDx, "gelu_dx"),
    Public(F::kGeluApprxTanh, "gelu_apprx_tanh"),
    Public(F::kGeluApprxSigmoid, "gelu_apprx_sigmoid"),
    Public(F::kGeluApprxSigmoidDx, "gelu_apprx_sigmoid_dx"),
    Public(F::kSilu, "silu"),
    Public(F::kSiluDx, "silu_dx"),
    Public(F::kTanh, "tanh"),
    Public(F::kSoftplus, "softplus"),
    Public(F::kMish, "mish"),
    Public(F::kErf, "erf"),
    Public(F::kErfDx, "erf_dx"),
    Public(F::kExp, "exp"),
    Public(F::kLog, "log"),
    Public(F::kSin, "sin"),
    Public(F::kArctan, "arctan"),
    Public(F::kSqrt, "sqrt"),
    Public(F::kRsqrt, "rsqrt"),
    Public(F::kReciprocal, "reciprocal"),
    Public(F::kSign, "sign"),
    Public(F::kAbs, "abs"),
    Ours(F::kLog1p, "log1p"),
    Ours(F::kExpm1, "expm1"),
    Ours(F::kExp2, "exp2"),
    Ours(F::kLog2, "log2"),
    Ours(F::kLog10, "log10"),
    Ours(F::kCos, "cos"),
    Ours(F::kTan, "tan"),
    Ours(F::kSinFull, "sin_full"),
    Ours(F::kAsin, "asin"),
    Ours(F::kAcos, "acos"),
    Ours(F::kSinh, "sinh"),
    Ours(F::kCosh, "cosh"),
    Ours(F::kAsinh, "asinh"),
    Ours(F::kAcosh, "acosh"),
    Ours(F::kAtanh, "atanh"),
    Ours(F::kErfc, "erfc"),
    Ours(F::kErfinv, "erfinv"),
    Ours(F::kLgamma, "lgamma"),
    Ours(F::kDigamma, "digamma"),
    Ours(F::kCbrt, "cbrt"),
    Ours(F::kFloor, "floor"),
    Ours(F::kCeil, "ceil"),
    Ours(F::kTrunc, "trunc"),
    Ours(F::kRoundEven, "round_even"),
    Ours(F::kBesselI0e, "bessel_i0e"),
    Ours(F::kBesselI1e, "bessel_i1e"),
};

// RowOf indexes by the enumerator's number.
constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kAlu); ++i)
    if (static_cast<size_t>(kAlu[i].op) != i) return false;
  for (size_t i = 0; i < std::size(kActivations); ++i)
    if (static_cast<size_t>(kActivations[i].function) != i) return false;
  return true;
}
static_assert(InOrder(), "operator tables must follow the order of their enumerations");
static_assert(std::size(kAlu) == static_cast<size_t>(kPopulationCount) + 1);
static_assert(std::size(kActivations) == static_cast<size_t>(F::kBesselI1e) + 1);

}  // namespace

std::span<const AluRow> AluRows() { return kAlu; }
std::span<const ActivationRow> ActivationRows() { return kActivations; }

const AluRow& RowOf(AluOp op) {
  const size_t index = static_cast<size_t>(op);
  NEURON_CHECK(index < std::size(kAlu), "no ALU operator has number ", index);
  return kAlu[index];
}

const ActivationRow& RowOf(ActivationFunction function) {
  const size_t index = static_cast<size_t>(function);
  NEURON_CHECK(index < std::size(kActivations), "no activation function has number ", index);
  return kActivations[index];
}

std::optional<AluOp> AluOpFromName(std::string_view name) {
  for (const AluRow& row : kAlu)
    if (row.name == name) return row.op;
  return std::nullopt;
}

std::optional<ActivationFunction> ActivationFromName(std::string_view name) {
  for (const ActivationRow& row : kActivations)
    if (row.name == name) return row.function;
  return std::nullopt;
}

}  // namespace neuron::isa
