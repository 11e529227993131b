// Operators on real floating values (those that complex ones share: elementary.h); each result is
// rounded to the instruction's dtype.
#include <cmath>

#include "emulator/wide/elementary.h"
#include "emulator/wide/evaluator.h"
#include "emulator/wide/special.h"

namespace neuron::emulator::wide {
namespace {

using isa::WideOp;

template <typename T>
T Maximum(T a, T b) {  // NaN wins; +0 above -0
  if (a != a || b != b) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
template <typename T>
T Minimum(T a, T b) {
  if (a != a || b != b) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return b < a ? b : a;
}

// As HLO: round to fewer exponent and mantissa bits, to nearest even; overflow to infinity,
// results below the narrow normal range to zero.
float ReducePrecision(float x, int exponent_bits, int mantissa_bits) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  if (x != x) return mantissa_bits == 0 ? std::copysign(INFINITY, x) : x;
  if (mantissa_bits < 23) {
    const uint32_t last = uint32_t{1} << (23 - mantissa_bits);
    bits = (bits + (last / 2 - 1) + ((bits >> (23 - mantissa_bits)) & 1)) & ~(last - 1);
  }
  if (exponent_bits < 8) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127;
    if (exponent > bias) bits = (bits & 0x80000000u) | 0x7f800000u;
    if (exponent <= -bias) bits &= 0x80000000u;
  }
  return std::bit_cast<float>(bits);
}
double ReducePrecision(double x, int exponent_bits, int mantissa_bits) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  if (x != x) return mantissa_bits == 0 ? std::copysign(HUGE_VAL, x) : x;
  if (mantissa_bits < 52) {
    const uint64_t last = uint64_t{1} << (52 - mantissa_bits);
    bits = (bits + (last / 2 - 1) + ((bits >> (52 - mantissa_bits)) & 1)) & ~(last - 1);
  }
  if (exponent_bits < 11) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
    if (exponent > bias) bits = (bits & (uint64_t{1} << 63)) | (uint64_t{0x7ff} << 52);
    if (exponent <= -bias) bits &= uint64_t{1} << 63;
  }
  return std::bit_cast<double>(bits);
}

template <typename T>
void Run(const Step& step) {
  const auto* a = static_cast<const T*>(step.operands[0]);
  const auto* b = static_cast<const T*>(step.operands[1]);
  const auto* c = static_cast<const T*>(step.operands[2]);
  const DType result = step.instruction->dtype;
  const auto each = [&](auto f) {
    auto* out = static_cast<T*>(step.out);
    for (int i = 0; i < step.n; ++i) out[i] = f(i);
    if constexpr (std::is_same_v<T, float>)
      if (result != DType::kF32)
        for (int i = 0; i < step.n; ++i) out[i] = Round(result, out[i]);
  };
  const auto compare = [&](auto f) {
    auto* out = static_cast<int64_t*>(step.out);
    for (int i = 0; i < step.n; ++i) out[i] = f(i);
  };
  if (RunElementary(step.instruction->op, a, b, each)) return;
  switch (step.instruction->op) {
    case WideOp::kAbs:
      return each([&](int i) { return std::fabs(a[i]); });
    case WideOp::kRemainder:
      return each([&](int i) { return std::fmod(a[i], b[i]); });
    case WideOp::kPower:
      return each([&](int i) { return std::pow(a[i], b[i]); });
    case WideOp::kMaximum:
      return each([&](int i) { return Maximum(a[i], b[i]); });
    case WideOp::kMinimum:
      return each([&](int i) { return Minimum(a[i], b[i]); });
    case WideOp::kClamp:
      return each([&](int i) { return Minimum(Maximum(a[i], b[i]), c[i]); });
    case WideOp::kAtan2:
      return each([&](int i) { return std::atan2(a[i], b[i]); });
    case WideOp::kNextAfter:
      return each([&](int i) { return std::nextafter(a[i], b[i]); });
    case WideOp::kCbrt:
      return each([&](int i) { return std::cbrt(a[i]); });
    case WideOp::kCeil:
      return each([&](int i) { return std::ceil(a[i]); });
    case WideOp::kFloor:
      return each([&](int i) { return std::floor(a[i]); });
    case WideOp::kTrunc:
      return each([&](int i) { return std::trunc(a[i]); });
    case WideOp::kRoundNearestAfz:
      return each([&](int i) { return std::round(a[i]); });
    case WideOp::kRoundNearestEven:
      return each([&](int i) { return std::nearbyint(a[i]); });
    case WideOp::kErf:
      return each([&](int i) { return std::erf(a[i]); });
    case WideOp::kErfc:
      return each([&](int i) { return std::erfc(a[i]); });
    case WideOp::kErfinv:
      return each([&](int i) { return static_cast<T>(Erfinv(a[i])); });
    case WideOp::kDigamma:
      return each([&](int i) { return static_cast<T>(Digamma(a[i])); });
    case WideOp::kLgamma:
      return each([&](int i) {
        int sign = 0;  // the reentrant form: lgamma writes a global
        return static_cast<T>(::lgamma_r(static_cast<double>(a[i]), &sign));
      });
    case WideOp::kExp2:
      return each([&](int i) { return std::exp2(a[i]); });
    case WideOp::kExpm1:
      return each([&](int i) { return std::expm1(a[i]); });
    case WideOp::kLog1p:
      return each([&](int i) { return std::log1p(a[i]); });
    case WideOp::kLog2:
      return each([&](int i) { return std::log2(a[i]); });
    case WideOp::kLog10:
      return each([&](int i) { return std::log10(a[i]); });
    case WideOp::kSign:
      return each([&](int i) { return a[i] > 0 ? T(1) : a[i] < 0 ? T(-1) : a[i]; });
    case WideOp::kReal:
      return each([&](int i) { return a[i]; });
    case WideOp::kImag:
      return each([](int) { return T(0); });
    case WideOp::kReducePrecision: {
      const auto& bits = step.instruction->immediate;
      return each([&](int i) {
        return ReducePrecision(a[i], static_cast<int>(bits[0]), static_cast<int>(bits[1]));
      });
    }
    case WideOp::kIsFinite:
      return compare([&](int i) { return std::isfinite(a[i]); });
    case WideOp::kCompareEq:
      return compare([&](int i) { return a[i] == b[i]; });
    case WideOp::kCompareNe:
      return compare([&](int i) { return a[i] != b[i]; });
    case WideOp::kCompareLt:
      return compare([&](int i) { return a[i] < b[i]; });
    case WideOp::kCompareGt:
      return compare([&](int i) { return a[i] > b[i]; });
    case WideOp::kCompareLe:
      return compare([&](int i) { return a[i] <= b[i]; });
    case WideOp::kCompareGe:
      return compare([&](int i) { return a[i] >= b[i]; });
    default:
      NEURON_CHECK(false, "no floating operator: ", WideOpName(step.instruction->op));
  }
}

}  // namespace

void RunFloating(const Step& step) { Run<float>(step); }
void RunDouble(const Step& step) { Run<double>(step); }

}  // namespace neuron::emulator::wide
