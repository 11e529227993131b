// Element types, named and numbered as XLA's PrimitiveType (xla_data.proto), so that the HLO
// writer needs no table; the values 200 and above are the NeuronCore's own.
//
// kPred is one byte, 0 or 1. Narrow floats are stored as their bits; BFloat16 and Float16 below
// convert with one round-to-nearest-even, NaN staying NaN.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace neuron {

enum class DType : uint8_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kC64 = 15,
  kBF16 = 16,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kF8E4M3 = 28,
  kF4E2M1FN = 32,
  kF8E8M0FNU = 33,
  kTF32 = 200,      // 1-8-10 in 32 bits (NKI 0.6 reference, data types)
  kF8E5M2X4 = 201,  // four packed values in 32 bits: operands of nc_matmul_mx
  kF8E4M3FNX4 = 202,
  kF4E2M1FNX4 = 203,  // four packed values in 16 bits
};

int64_t ByteSize(DType dtype);            // 0 for kInvalid; kF4E2M1FN counts as one byte
std::string_view DTypeName(DType dtype);  // XLA's spelling: "f32", "bf16", "pred", "s64"
std::optional<DType> DTypeFromName(std::string_view name);

bool IsFloating(DType dtype);  // includes narrow floats, not complex
bool IsSigned(DType dtype);    // signed integers
bool IsUnsigned(DType dtype);  // unsigned integers, not kPred
bool IsInteger(DType dtype);   // signed or unsigned, not kPred
bool IsComplex(DType dtype);
bool IsWide(DType dtype);  // 64-bit numbers and complex: only GpSimd kernels compute on these

struct BFloat16 {
  uint16_t bits;
};
inline float ToFloat(BFloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}
inline BFloat16 ToBFloat16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((u >> 16) | 0x40u)};
  return {static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
}

struct Float16 {
  uint16_t bits;
};
float ToFloat(Float16 x);
Float16 ToFloat16(float x);

// The 8-bit formats, by their bits; conversion rounds to nearest even. Overflow: kF8E4M3FN -> NaN
// as ml_dtypes does, kF8E5M2 and kF8E4M3 -> infinity.
float Float8ToFloat(DType dtype, uint8_t bits);
uint8_t FloatToFloat8(DType dtype, float x);

}  // namespace neuron
