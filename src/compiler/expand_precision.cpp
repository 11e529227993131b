// reduce-precision to formats that no dtype has (TF32 among them), on the bits of fp32.
#include "compiler/expand.h"

namespace neuron::compiler {
namespace {

using hlo::Builder;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Value;

bool IsOwnFormat(const Instruction& x) {
  // Of fp16, XLA rounds subnormals by their own bits; fp16 as the format would keep some.
  const DType t = x.shape().dtype;
  const bool is_bf16 = x.attributes().exponent_bits == 8 && x.attributes().mantissa_bits == 7;
  return (t == DType::kF32 || t == DType::kBF16) && !is_bf16;
}

Value OnBits(Builder& b, const Instruction& x) {
  constexpr int kExponentBits = 8, kMantissaBits = 23, kBias = 127;
  const Value wide = b.Convert(b.Of(x.operand(0)), DType::kF32);
  const auto number = [&](int64_t n) { return b.ConstantInt(DType::kS32, n); };
  Value bits = b.BitcastConvert(wide, DType::kS32);
  const int dropped = kMantissaBits - x.attributes().mantissa_bits;
  if (dropped > 0) {  // to nearest, ties to even
    const Value odd = b.And(b.ShiftRightLogical(bits, number(dropped)), number(1));
    const Value rounded = b.Add(b.Add(bits, number((1 << (dropped - 1)) - 1)), odd);
    bits = b.And(rounded, number(-(int64_t{1} << dropped)));
  }
  if (x.attributes().exponent_bits < kExponentBits) {
    const int bias = (1 << (x.attributes().exponent_bits - 1)) - 1;
    const Value magnitude = b.And(bits, number(0x7fffffff));
    const Value sign = b.And(bits, number(-0x80000000ll));
    const auto first_of = [&](int64_t exponent) { return number(exponent << kMantissaBits); };
    const std::vector<int64_t>& dims = bits.shape().dims;
    const Value least = b.BroadcastTo(first_of(kBias - bias + 1), dims);
    const Value beyond = b.BroadcastTo(first_of(kBias + bias + 1), dims);
    bits = b.Select(b.Compare(hlo::Comparison::kLt, magnitude, least), sign, bits);
    bits = b.Select(b.Compare(hlo::Comparison::kGe, magnitude, beyond),
                    b.Or(sign, number(0x7f800000)), bits);
  }
  const Value reduced = b.BitcastConvert(bits, DType::kF32);
  const Value is_number = b.Compare(hlo::Comparison::kEq, wide, wide);
  return b.Convert(b.Select(is_number, reduced, wide), x.shape().dtype);
}

constexpr Expansion kRows[] = {{Opcode::kReducePrecision, IsOwnFormat, OnBits}};

}  // namespace

std::span<const Expansion> PrecisionExpansions() { return kRows; }

}  // namespace neuron::compiler
