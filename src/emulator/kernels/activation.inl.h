// Activation functions on rows.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace activation {

#define NEURON_ACTIVATIONS(X)                                                         \
  X(Copy, x)                                                                          \
  X(Square, x* x)                                                                     \
  X(Sigmoid, 1.0 / (1.0 + std::exp(-double{x})))                                      \
  X(Relu, x <= 0.0f ? 0.0f : x)                                                       \
  X(Gelu, 0.5 * x * (1.0 + std::erf(x * 0.70710678118654752440)))                     \
  X(GeluDx, GeluDx(x))                                                                \
  X(GeluApprxTanh, GeluTanh(x))                                                       \
  X(GeluApprxSigmoid, x / (1.0 + std::exp(-1.702 * x)))                               \
  X(GeluApprxSigmoidDx, GeluSigmoidDx(x))                                             \
  X(Silu, x / (1.0 + std::exp(-double{x})))                                           \
  X(SiluDx, SiluDx(x))                                                                \
  X(Tanh, std::tanh(double{x}))                                                       \
  X(Softplus, std::max(double{x}, 0.0) + std::log1p(std::exp(-std::fabs(double{x})))) \
  X(Mish, Mish(x))                                                                    \
  X(Erf, std::erf(double{x}))                                                         \
  X(ErfDx, 1.12837916709551257390 * std::exp(-double{x} * x))                         \
  X(Exp, std::exp(double{x}))                                                         \
  X(Log, std::log(double{x}))                                                         \
  X(Sin, std::sin(double{x}))                                                         \
  X(Arctan, std::atan(double{x}))                                                     \
  X(Sqrt, __builtin_sqrtf(x))                                                         \
  X(Rsqrt, 1.0f / __builtin_sqrtf(x))                                                 \
  X(Reciprocal, 1.0f / x)                                                             \
  X(Sign, x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x))                                   \
  X(Abs, std::fabs(x))                                                                \
  X(Log1p, std::log1p(double{x}))                                                     \
  X(Expm1, std::expm1(double{x}))                                                     \
  X(Exp2, std::exp2(double{x}))                                                       \
  X(Log2, std::log2(double{x}))                                                       \
  X(Log10, std::log10(double{x}))                                                     \
  X(Cos, std::cos(double{x}))                                                         \
  X(Tan, std::tan(double{x}))                                                         \
  X(SinFull, std::sin(double{x}))                                                     \
  X(Asin, std::asin(double{x}))                                                       \
  X(Acos, std::acos(double{x}))                                                       \
  X(Sinh, std::sinh(double{x}))                                                       \
  X(Cosh, std::cosh(double{x}))                                                       \
  X(Asinh, std::asinh(double{x}))                                                     \
  X(Acosh, std::acosh(double{x}))                                                     \
  X(Atanh, std::atanh(double{x}))                                                     \
  X(Erfc, std::erfc(double{x}))                                                       \
  X(Erfinv, ErfInverse(x))                                                            \
  X(Lgamma, LogGamma(x))                                                              \
  X(Digamma, Digamma(x))                                                              \
  X(Cbrt, std::cbrt(double{x}))                                                       \
  X(Floor, std::floor(x))                                                             \
  X(Ceil, std::ceil(x))                                                               \
  X(Trunc, std::trunc(x))                                                             \
  X(RoundEven, std::nearbyint(x))                                                     \
  X(BesselI0e, BesselI0e(x))                                                          \
  X(BesselI1e, BesselI1e(x))

#define X(name, expression)                                \
  void name##Row(void* dst, const void* src, int64_t n) {  \
    using namespace special;                               \
    float* d = static_cast<float*>(dst);                   \
    const float* s = static_cast<const float*>(src);       \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) { \
      const float x = s[i];                                \
      d[i] = static_cast<float>(expression);               \
    }                                                      \
  }
NEURON_ACTIVATIONS(X)
#undef X

}  // namespace activation

void FillActivation(KernelTable& table) {
#define X(name, expression) \
  table.activation[static_cast<int>(isa::ActivationFunction::k##name)] = activation::name##Row;
  NEURON_ACTIVATIONS(X)
#undef X
}
#undef NEURON_ACTIVATIONS

}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
