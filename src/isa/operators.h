// The operators that instructions carry: ALU operators of Vector, GpSimd and Scalar, activation
// functions of Scalar. One table row each (operators.cpp): NKI's name, arity, flags, source.
//
// Rows marked ours extend the public set where PyTorch's semantics need it (architecture: a short
// list of extension rows). Arithmetic is fp32 with one rounding to the destination's dtype, unless
// every operand including the destination is an integer of at most 32 bits: then it is 32-bit two's
// complement with truncation to the destination (public for tensor_tensor on GpSimd; ours
// elsewhere). Bitvec operators work on raw integer bits. Comparisons give 1 or 0. maximum and
// minimum return NaN if an operand is NaN, as IEEE 754-2019 maximum does.
//
// Storing fp32 into an integer rounds to nearest even and saturates, NaN becomes 0 (NKI 0.6);
// storing anything into kPred stores `value != 0`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace neuron::isa {

enum class AluOp : uint8_t {
  kBypass,  // first operand
  kAdd,
  kSubtract,
  kMultiply,
  kMaximum,
  kMinimum,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kLess,
  kLessEqual,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kPower,
  kAbsMax,
  kAbsMin,
  kAbs,
  kSquare,
  kRelu,
  kRsqrt,
  kReciprocal,  // unary
  kInvert,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kLeftShift,
  kRightShift,
  kAverage,  // reductions only
  // Ours.
  kDivide,     // correctly rounded; integers truncate toward zero
  kRemainder,  // C fmod / integer %: sign of the dividend (HLO remainder)
  kArithRightShift,
  kAtan2,
  kNextAfter,
  kCopysign,
  kFloor,
  kCeil,
  kTrunc,
  kRoundEven,
  kNegate,
  kSign,
  kIsFinite,
  kNot,   // unary; kNot: x == 0
  kSqrt,  // unary, correctly rounded
  kCountLeadingZeros,
  kPopulationCount,  // unary bitvec
};

enum class ActivationFunction : uint8_t {
  kCopy,
  kSquare,
  kSigmoid,
  kRelu,
  kPrelu,
  kGelu,
  kGeluDx,
  kGeluApprxTanh,
  kGeluApprxSigmoid,
  kGeluApprxSigmoidDx,
  kSilu,
  kSiluDx,
  kTanh,
  kSoftplus,
  kMish,
  kErf,
  kErfDx,
  kExp,
  kLog,
  kSin,
  kArctan,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSign,
  kAbs,
  // Ours: full-range or correctly rounded functions that PyTorch needs.
  kLog1p,
  kExpm1,
  kExp2,
  kLog2,
  kLog10,
  kCos,
  kTan,
  kSinFull,
  kAsin,
  kAcos,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErfc,
  kErfinv,
  kLgamma,
  kDigamma,
  kCbrt,
  kFloor,
  kCeil,
  kTrunc,
  kRoundEven,
  kBesselI0e,
  kBesselI1e,
};

struct AluRow {
  AluOp op;
  std::string_view name;  // "add"
  uint8_t arity;          // 1 or 2
  bool bitvec;
  bool reduction;  // legal as a reduction
  bool ours;
  std::string_view source;
};
struct ActivationRow {
  ActivationFunction function;
  std::string_view name;
  bool ours;
  std::string_view source;
};

std::span<const AluRow> AluRows();
std::span<const ActivationRow> ActivationRows();
const AluRow& RowOf(AluOp op);
const ActivationRow& RowOf(ActivationFunction function);
std::optional<AluOp> AluOpFromName(std::string_view name);
std::optional<ActivationFunction> ActivationFromName(std::string_view name);

}  // namespace neuron::isa
