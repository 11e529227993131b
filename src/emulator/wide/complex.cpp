// Operators on complex values, both widths; those that real ones share are in elementary.h.
#include <cmath>

#include "emulator/wide/elementary.h"
#include "emulator/wide/evaluator.h"

namespace neuron::emulator::wide {
namespace {

using isa::WideOp;

template <typename T>
std::complex<T> Log1p(std::complex<T> z) {
  // log|1 + z| = log1p(x (2 + x) + y^2) / 2 keeps the digits of a small z.
  const T x = z.real(), y = z.imag();
  return {std::log1p(x * (T(2) + x) + y * y) / T(2), std::atan2(y, T(1) + x)};
}
template <typename T>
std::complex<T> Expm1(std::complex<T> z) {
  const T half = std::sin(z.imag() / T(2));
  return {std::expm1(z.real()) * std::cos(z.imag()) - T(2) * half * half,
          std::exp(z.real()) * std::sin(z.imag())};
}

template <typename T>
void Run(const Step& step) {
  using C = std::complex<T>;
  const auto* a = static_cast<const C*>(step.operands[0]);
  const auto* b = static_cast<const C*>(step.operands[1]);
  const auto into = [&]<typename Out>(Out*, auto f) {
    auto* out = static_cast<Out*>(step.out);
    for (int i = 0; i < step.n; ++i) out[i] = f(i);
  };
  const auto each = [&](auto f) { into(static_cast<C*>(nullptr), f); };
  const auto real = [&](auto f) { into(static_cast<T*>(nullptr), f); };
  const auto pred = [&](auto f) { into(static_cast<int64_t*>(nullptr), f); };
  if (RunElementary(step.instruction->op, a, b, each)) return;
  switch (step.instruction->op) {
    case WideOp::kAbs:
      return real([&](int i) { return std::hypot(a[i].real(), a[i].imag()); });
    case WideOp::kReal:
      return real([&](int i) { return a[i].real(); });
    case WideOp::kImag:
      return real([&](int i) { return a[i].imag(); });
    case WideOp::kIsFinite:
      return pred([&](int i) { return std::isfinite(a[i].real()) && std::isfinite(a[i].imag()); });
    case WideOp::kCompareEq:
      return pred([&](int i) { return a[i] == b[i]; });
    case WideOp::kCompareNe:
      return pred([&](int i) { return a[i] != b[i]; });
    case WideOp::kPower:
      return each([&](int i) {
        if (b[i] == C(0)) return C(1);
        if (a[i] == C(0)) return C(0);
        return std::pow(a[i], b[i]);
      });
    case WideOp::kSign:
      return each([&](int i) {
        const T magnitude = std::abs(a[i]);
        return magnitude == T(0) ? C(0) : a[i] / magnitude;
      });
    case WideOp::kExpm1:
      return each([&](int i) { return Expm1(a[i]); });
    case WideOp::kLog1p:
      return each([&](int i) { return Log1p(a[i]); });
    default:
      NEURON_CHECK(false, "no complex operator: ", WideOpName(step.instruction->op));
  }
}

}  // namespace

void RunComplex(const Step& step) {
  step.in == DType::kC128 ? Run<double>(step) : Run<float>(step);
}

}  // namespace neuron::emulator::wide
