// convert between any two dtypes. Float to integer truncates and saturates, NaN gives 0 (XLA);
// integer to narrower integer wraps; complex to real drops the imaginary part.
#include <cmath>
#include <limits>
#include <type_traits>

#include "emulator/wide/dispatch.h"
#include "emulator/wide/evaluator.h"

namespace neuron::emulator::wide {
namespace {

struct Range {
  double low, high;  // first values outside, as doubles: exact powers of two
  int64_t min, max;
};
Range RangeOf(DType dtype) {
  const int bits = static_cast<int>(ByteSize(dtype)) * 8;
  if (IsSigned(dtype)) {
    const double power = std::ldexp(1.0, bits - 1);
    const int64_t min = std::numeric_limits<int64_t>::min() >> (64 - bits);
    return {-power - 1, power, min, ~min};
  }
  return {-1, std::ldexp(1.0, bits), 0,
          bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1)};
}

template <typename T>
void ToInteger(const Step& step, const T* from) {
  const DType dtype = step.instruction->dtype;
  auto* out = static_cast<int64_t*>(step.out);
  if (dtype == DType::kPred) {
    for (int i = 0; i < step.n; ++i) out[i] = from[i] != T(0);
    return;
  }
  const Range range = RangeOf(dtype);
  for (int i = 0; i < step.n; ++i) {
    const double x = static_cast<double>(from[i]);
    if (x != x) {
      out[i] = 0;
    } else if (x >= range.high) {
      out[i] = range.max;
    } else if (x <= range.low) {
      out[i] = range.min;
    } else if (dtype == DType::kU64) {
      out[i] = static_cast<int64_t>(static_cast<uint64_t>(x));
    } else {
      out[i] = static_cast<int64_t>(x);
    }
  }
}

template <typename To, typename From>
void ToReal(const Step& step, const From* from) {
  auto* out = static_cast<To*>(step.out);
  const bool is_unsigned = step.in == DType::kU64;
  for (int i = 0; i < step.n; ++i) {
    if constexpr (std::is_same_v<From, int64_t>) {
      out[i] =
          is_unsigned ? static_cast<To>(static_cast<uint64_t>(from[i])) : static_cast<To>(from[i]);
    } else {
      out[i] = static_cast<To>(from[i]);
    }
  }
  if constexpr (std::is_same_v<To, float>)
    if (step.instruction->dtype != DType::kF32)
      for (int i = 0; i < step.n; ++i) out[i] = Round(step.instruction->dtype, out[i]);
}

template <typename From>
void FromReal(const Step& step, const From* from) {
  switch (KindOf(step.instruction->dtype)) {
    case Kind::kInteger:
      if constexpr (std::is_same_v<From, int64_t>) {
        auto* out = static_cast<int64_t*>(step.out);
        for (int i = 0; i < step.n; ++i) out[i] = Wrap(step.instruction->dtype, from[i]);
        return;
      } else {
        return ToInteger(step, from);
      }
    case Kind::kFloat:
      return ToReal<float>(step, from);
    case Kind::kDouble:
      return ToReal<double>(step, from);
    case Kind::kComplexFloat:
    case Kind::kComplexDouble:
      break;
  }
  const auto widen = [&]<typename T>(std::complex<T>* out) {
    // Backwards through the same memory would be wrong: real parts go to a buffer first.
    T real[kBlock];
    Step inner = step;
    isa::WideInstruction instruction = *step.instruction;
    instruction.dtype = std::is_same_v<T, double> ? DType::kF64 : DType::kF32;
    inner.instruction = &instruction;
    inner.out = real;
    ToReal<T>(inner, from);
    for (int i = 0; i < step.n; ++i) out[i] = {real[i], T(0)};
  };
  if (step.instruction->dtype == DType::kC128)
    widen(static_cast<ComplexDouble*>(step.out));
  else
    widen(static_cast<ComplexFloat*>(step.out));
}

template <typename T>
void FromComplex(const Step& step, const std::complex<T>* from) {
  const DType dtype = step.instruction->dtype;
  const auto copy = [&]<typename To>(std::complex<To>* out) {
    for (int i = 0; i < step.n; ++i)
      out[i] = {static_cast<To>(from[i].real()), static_cast<To>(from[i].imag())};
  };
  if (dtype == DType::kC64) return copy(static_cast<ComplexFloat*>(step.out));
  if (dtype == DType::kC128) return copy(static_cast<ComplexDouble*>(step.out));
  if (dtype == DType::kPred) {  // either part counts
    auto* out = static_cast<int64_t*>(step.out);
    for (int i = 0; i < step.n; ++i) out[i] = from[i] != std::complex<T>(0);
    return;
  }
  T real[kBlock];
  for (int i = 0; i < step.n; ++i) real[i] = from[i].real();
  FromReal(step, real);
}

}  // namespace

void RunConversion(const Step& step) {
  const void* from = step.operands[0];
  ForKind(KindOf(step.in), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_arithmetic_v<T>)
      FromReal(step, static_cast<const T*>(from));
    else
      FromComplex(step, static_cast<const T*>(from));
  });
}

}  // namespace neuron::emulator::wide
