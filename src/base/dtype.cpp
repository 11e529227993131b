#include "base/dtype.h"

#include <cmath>

#include "base/status.h"

namespace neuron {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int8_t bytes;
};
constexpr Row kRows[] = {
    {DType::kPred, "pred", 1},
    {DType::kS8, "s8", 1},
    {DType::kS16, "s16", 2},
    {DType::kS32, "s32", 4},
    {DType::kS64, "s64", 8},
    {DType::kU8, "u8", 1},
    {DType::kU16, "u16", 2},
    {DType::kU32, "u32", 4},
    {DType::kU64, "u64", 8},
    {DType::kF16, "f16", 2},
    {DType::kF32, "f32", 4},
    {DType::kF64, "f64", 8},
    {DType::kC64, "c64", 8},
    {DType::kBF16, "bf16", 2},
    {DType::kC128, "c128", 16},
    {DType::kF8E5M2, "f8e5m2", 1},
    {DType::kF8E4M3FN, "f8e4m3fn", 1},
    {DType::kF8E4M3, "f8e4m3", 1},
    {DType::kF4E2M1FN, "f4e2m1fn", 1},
    {DType::kF8E8M0FNU, "f8e8m0fnu", 1},
    {DType::kTF32, "tf32", 4},
    {DType::kF8E5M2X4, "f8e5m2_x4", 4},
    {DType::kF8E4M3FNX4, "f8e4m3fn_x4", 4},
    {DType::kF4E2M1FNX4, "f4e2m1fn_x4", 2},
};

const Row* Find(DType dtype) {
  for (const Row& row : kRows)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

struct Float8Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
};
Float8Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF8E5M2:
      return {5, 2, true};
    case DType::kF8E4M3:
      return {4, 3, true};
    case DType::kF8E4M3FN:
      return {4, 3, false};
    default:
      break;
  }
  NEURON_CHECK(false, "not an 8-bit float: ", DTypeName(dtype));
}

}  // namespace

int64_t ByteSize(DType dtype) {
  const Row* row = Find(dtype);
  return row ? row->bytes : 0;
}

std::string_view DTypeName(DType dtype) {
  const Row* row = Find(dtype);
  return row ? row->name : "invalid";
}

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

bool IsFloating(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kF32:
    case DType::kF64:
    case DType::kBF16:
    case DType::kF8E5M2:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3:
    case DType::kF4E2M1FN:
    case DType::kF8E8M0FNU:
    case DType::kTF32:
      return true;
    default:
      return false;
  }
}
bool IsSigned(DType dtype) { return dtype >= DType::kS8 && dtype <= DType::kS64; }
bool IsUnsigned(DType dtype) { return dtype >= DType::kU8 && dtype <= DType::kU64; }
bool IsInteger(DType dtype) { return IsSigned(dtype) || IsUnsigned(dtype); }
bool IsComplex(DType dtype) { return dtype == DType::kC64 || dtype == DType::kC128; }
bool IsWide(DType dtype) {
  return IsComplex(dtype) || dtype == DType::kS64 || dtype == DType::kU64 || dtype == DType::kF64;
}

float ToFloat(Float16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t exponent = (x.bits >> 10) & 0x1fu;
  const uint32_t mantissa = x.bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

Float16 ToFloat16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const uint16_t sign = static_cast<uint16_t>((u >> 16) & 0x8000u);
  const uint32_t a = u & 0x7fffffffu;
  if (a > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u | ((a >> 13) & 0x1ffu))};
  if (a >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // rounds to infinity
  if (a < 0x38800000u) {  // subnormal half: adding 0.5 aligns the mantissa and rounds once
    const float shifted = std::bit_cast<float>(a) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
  }
  const uint32_t rounded = a + 0xfffu + ((a >> 13) & 1u);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

float Float8ToFloat(DType dtype, uint8_t bits) {
  const Float8Format f = FormatOf(dtype);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int exponent = (bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  const float sign = (bits & 0x80) ? -1.0f : 1.0f;
  const int top = (1 << f.exponent_bits) - 1;
  if (f.has_infinity && exponent == top)
    return mantissa ? std::copysign(std::nanf(""), sign) : sign * INFINITY;
  if (!f.has_infinity && (bits & 0x7f) == 0x7f) return std::copysign(std::nanf(""), sign);
  if (exponent == 0)
    return sign * std::ldexp(static_cast<float>(mantissa), 1 - bias - f.mantissa_bits);
  return sign * std::ldexp(1.0f + std::ldexp(static_cast<float>(mantissa), -f.mantissa_bits),
                           exponent - bias);
}

uint8_t FloatToFloat8(DType dtype, float x) {
  const Float8Format f = FormatOf(dtype);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int top = (1 << f.exponent_bits) - 1;
  const uint8_t sign = std::signbit(x) ? 0x80 : 0;
  const uint8_t infinity = static_cast<uint8_t>(top << f.mantissa_bits);
  const uint8_t nan = f.has_infinity ? static_cast<uint8_t>(infinity | (1 << (f.mantissa_bits - 1)))
                                     : uint8_t{0x7f};
  if (std::isnan(x)) return sign | nan;
  const float a = std::fabs(x);
  if (std::isinf(a)) return sign | (f.has_infinity ? infinity : uint8_t{0x7f});
  // Scale so that one unit is the last mantissa bit, round to nearest even, and put back.
  const int exponent = a == 0 ? 1 - bias : std::max(std::ilogb(a), 1 - bias);
  const float units = std::nearbyint(std::ldexp(a, f.mantissa_bits - exponent));
  const int whole = static_cast<int>(units);
  const int encoded = ((exponent + bias - 1) << f.mantissa_bits) + whole;
  const int largest = f.has_infinity ? infinity - 1 : 0x7e;
  if (encoded > largest) return sign | (f.has_infinity ? infinity : uint8_t{0x7f});
  return sign | static_cast<uint8_t>(encoded);
}

}  // namespace neuron
