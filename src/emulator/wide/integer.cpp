// Integer and pred operators. Division and remainder follow HLO: x / 0 is -1 (all ones), x % 0 is
// x, and the lowest value divided by -1 stays.
#include <bit>

#include "emulator/wide/evaluator.h"

namespace neuron::emulator::wide {
namespace {

using isa::WideOp;

struct Operands {
  const int64_t* a;
  const int64_t* b;
  const int64_t* c;
};

int64_t Divide(bool is_signed, int64_t a, int64_t b) {
  if (b == 0) return -1;
  if (!is_signed) return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}
int64_t Remainder(bool is_signed, int64_t a, int64_t b) {
  if (b == 0) return a;
  if (!is_signed) return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  return b == -1 ? 0 : a % b;
}
// Wraps; a negative exponent gives 0, except for bases 1 and -1.
int64_t Power(bool is_signed, int64_t base, int64_t exponent) {
  if (is_signed && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 ? -1 : 1;
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}
bool Less(bool is_signed, int64_t a, int64_t b) {
  return is_signed ? a < b : static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
}

}  // namespace

void RunInteger(const Step& step) {
  const DType dtype = step.in;
  const bool is_signed = IsSigned(dtype);
  const bool pred = dtype == DType::kPred;
  const int bits = static_cast<int>(ByteSize(dtype)) * 8;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const auto* a = static_cast<const int64_t*>(step.operands[0]);
  const auto* b = static_cast<const int64_t*>(step.operands[1]);
  const auto* c = static_cast<const int64_t*>(step.operands[2]);
  auto* out = static_cast<int64_t*>(step.out);
  const auto each = [&](auto f) {
    for (int i = 0; i < step.n; ++i) out[i] = f(i);
    const DType result = step.instruction->dtype;
    if (result != DType::kS64 && result != DType::kU64)
      for (int i = 0; i < step.n; ++i) out[i] = Wrap(result, out[i]);
  };
  const auto wrapping = [&](auto f) {  // unsigned, so that overflow is defined
    each([&](int i) {
      return static_cast<int64_t>(f(static_cast<uint64_t>(a[i]), static_cast<uint64_t>(b[i])));
    });
  };
  switch (step.instruction->op) {
    case WideOp::kAbs:
      return each([&](int i) {
        return is_signed && a[i] < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(a[i])) : a[i];
      });
    case WideOp::kAdd:
      return pred ? each([&](int i) { return a[i] | b[i]; })
                  : wrapping([](uint64_t x, uint64_t y) { return x + y; });
    case WideOp::kSubtract:
      return wrapping([](uint64_t x, uint64_t y) { return x - y; });
    case WideOp::kMultiply:
      return wrapping([](uint64_t x, uint64_t y) { return x * y; });
    case WideOp::kDivide:
      return each([&](int i) { return Divide(is_signed, a[i], b[i]); });
    case WideOp::kRemainder:
      return each([&](int i) { return Remainder(is_signed, a[i], b[i]); });
    case WideOp::kPower:
      return each([&](int i) { return Power(is_signed, a[i], b[i]); });
    case WideOp::kMaximum:
      return each([&](int i) { return Less(is_signed, a[i], b[i]) ? b[i] : a[i]; });
    case WideOp::kMinimum:
      return each([&](int i) { return Less(is_signed, b[i], a[i]) ? b[i] : a[i]; });
    case WideOp::kClamp:
      return each([&](int i) {
        const int64_t low = Less(is_signed, b[i], a[i]) ? a[i] : b[i];
        return Less(is_signed, c[i], low) ? c[i] : low;
      });
    case WideOp::kAnd:
      return wrapping([](uint64_t x, uint64_t y) { return x & y; });
    case WideOp::kOr:
      return wrapping([](uint64_t x, uint64_t y) { return x | y; });
    case WideOp::kXor:
      return wrapping([](uint64_t x, uint64_t y) { return x ^ y; });
    case WideOp::kNot:
      return each([&](int i) { return pred ? !a[i] : ~a[i]; });
    case WideOp::kNegate:
      return each([&](int i) { return static_cast<int64_t>(-static_cast<uint64_t>(a[i])); });
    case WideOp::kSign:
      return each(
          [&](int i) -> int64_t { return a[i] == 0 ? 0 : (is_signed && a[i] < 0 ? -1 : 1); });
    case WideOp::kClz:
      return each([&](int i) -> int64_t {
        return std::countl_zero(static_cast<uint64_t>(a[i]) & mask) - (64 - bits);
      });
    case WideOp::kPopcnt:
      return each(
          [&](int i) -> int64_t { return std::popcount(static_cast<uint64_t>(a[i]) & mask); });
    case WideOp::kShiftLeft:
      return each([&](int i) {
        const uint64_t shift = static_cast<uint64_t>(b[i]) & mask;
        return shift >= static_cast<uint64_t>(bits)
                   ? int64_t{0}
                   : static_cast<int64_t>(static_cast<uint64_t>(a[i]) << shift);
      });
    case WideOp::kShiftRightLogical:
      return each([&](int i) {
        const uint64_t shift = static_cast<uint64_t>(b[i]) & mask;
        return shift >= static_cast<uint64_t>(bits)
                   ? int64_t{0}
                   : static_cast<int64_t>((static_cast<uint64_t>(a[i]) & mask) >> shift);
      });
    case WideOp::kShiftRightArithmetic:
      return each([&](int i) {
        const uint64_t shift =
            std::min<uint64_t>(static_cast<uint64_t>(b[i]) & mask, static_cast<uint64_t>(bits - 1));
        const int64_t extended =
            static_cast<int64_t>(static_cast<uint64_t>(a[i]) << (64 - bits)) >> (64 - bits);
        return extended >> shift;
      });
    case WideOp::kCompareEq:
      return each([&](int i) { return a[i] == b[i]; });
    case WideOp::kCompareNe:
      return each([&](int i) { return a[i] != b[i]; });
    case WideOp::kCompareLt:
      return each([&](int i) { return Less(is_signed, a[i], b[i]); });
    case WideOp::kCompareGt:
      return each([&](int i) { return Less(is_signed, b[i], a[i]); });
    case WideOp::kCompareLe:
      return each([&](int i) { return !Less(is_signed, b[i], a[i]); });
    case WideOp::kCompareGe:
      return each([&](int i) { return !Less(is_signed, a[i], b[i]); });
    case WideOp::kIsFinite:
      return each([](int) { return 1; });
    case WideOp::kReal:
      return each([&](int i) { return a[i]; });
    case WideOp::kImag:
      return each([](int) { return 0; });
    default:
      NEURON_CHECK(false, "no integer operator: ", WideOpName(step.instruction->op));
  }
}

}  // namespace neuron::emulator::wide
