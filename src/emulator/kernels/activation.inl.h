// Activation functions on rows, and the operators power and atan2.
#include "emulator/kernels/math.inl.h"
#include "emulator/kernels/math32.inl.h"

namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace activation {

// Functions with a vector form (math.inl.h), then those evaluated one by one in double.
#define NEURON_VECTOR_ACTIVATIONS(X)                \
  X(Copy, x)                                        \
  X(Square, x* x)                                   \
  X(Sigmoid, math::Sigmoid32(x))                    \
  X(Relu, x <= 0.0f ? 0.0f : x)                     \
  X(Gelu, math::Gelu32(x))                          \
  X(GeluDx, math::GeluDx32(x))                      \
  X(GeluApprxTanh, math::GeluTanh32(x))             \
  X(GeluApprxSigmoid, math::GeluSigmoid(x))         \
  X(GeluApprxSigmoidDx, math::GeluSigmoidDx(x))     \
  X(Silu, math::Silu32(x))                          \
  X(SiluDx, math::SiluDx(x))                        \
  X(Tanh, math::Tanh32(x))                          \
  X(Softplus, math::Softplus(x))                    \
  X(Mish, math::Mish(x))                            \
  X(Erf, math::Erf32(x))                            \
  X(ErfDx, math::ErfDx(x))                          \
  X(Log, math::Log(x))                              \
  X(Arctan, math::Atan(x))                          \
  X(Sqrt, __builtin_sqrtf(x))                       \
  X(Rsqrt, 1.0f / __builtin_sqrtf(x))               \
  X(Reciprocal, 1.0f / x)                           \
  X(Sign, x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x)) \
  X(Abs, math::Abs(x))                              \
  X(Log1p, math::Log1p(x))                          \
  X(Expm1, math::Expm1(x))                          \
  X(Exp2, math::Exp(x* math::kLn2))                 \
  X(Log2, math::Log(x) * 1.44269504088896340736)    \
  X(Log10, math::Log(x) * 0.43429448190325182765)   \
  X(Asin, math::Asin(x))                            \
  X(Acos, math::Acos(x))                            \
  X(Sinh, math::Sinh(x))                            \
  X(Cosh, math::Cosh(x))                            \
  X(Asinh, math::Asinh(x))                          \
  X(Acosh, math::Acosh(x))                          \
  X(Atanh, math::Atanh(x))                          \
  X(Erfc, math::Erfc(x))
// Functions with a shorter form for blocks whose magnitudes are within a limit.
#define NEURON_BLOCK_ACTIVATIONS(X) X(Exp, math::kNormalExp32, math::NormalExp32(x), math::Exp32(x))
#define NEURON_ANGLE_ACTIVATIONS(X)     \
  X(Sin, math::Sin(x), std::sin(x))     \
  X(SinFull, math::Sin(x), std::sin(x)) \
  X(Cos, math::Cos(x), std::cos(x))     \
  X(Tan, math::Tan(x), std::tan(x))
#define NEURON_SCALAR_ACTIVATIONS(X)  \
  X(Erfinv, special::ErfInverse(x))   \
  X(Lgamma, special::LogGamma(x))     \
  X(Digamma, special::Digamma(x))     \
  X(Cbrt, std::cbrt(x))               \
  X(Floor, std::floor(x))             \
  X(Ceil, std::ceil(x))               \
  X(Trunc, std::trunc(x))             \
  X(RoundEven, std::nearbyint(x))     \
  X(BesselI0e, special::BesselI0e(x)) \
  X(BesselI1e, special::BesselI1e(x))

#define X(name, expression)                                \
  void name##Row(void* dst, const void* src, int64_t n) {  \
    float* d = static_cast<float*>(dst);                   \
    const float* s = static_cast<const float*>(src);       \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) { \
      const float x = s[i];                                \
      d[i] = static_cast<float>(expression);               \
    }                                                      \
  }
NEURON_VECTOR_ACTIVATIONS(X)
#undef X

#define X(name, limit, shorter, expression)                          \
  void name##Row(void* dst, const void* src, int64_t n) {            \
    float* d = static_cast<float*>(dst);                             \
    const float* s = static_cast<const float*>(src);                 \
    constexpr int64_t kBlock = 256;                                  \
    for (int64_t first = 0; first < n; first += kBlock) {            \
      const int64_t end = first + kBlock < n ? first + kBlock : n;   \
      uint32_t most = 0; /* a NaN's bits are above all numbers' */   \
      for (int64_t i = first; i < end; ++i) {                        \
        const uint32_t bits = math::Bits32(s[i]) & 0x7fffffffu;      \
        most = bits > most ? bits : most;                            \
      }                                                              \
      if (most <= math::Bits32(limit)) {                             \
        _Pragma("GCC ivdep") for (int64_t i = first; i < end; ++i) { \
          const float x = s[i];                                      \
          d[i] = shorter;                                            \
        }                                                            \
      } else {                                                       \
        _Pragma("GCC ivdep") for (int64_t i = first; i < end; ++i) { \
          const float x = s[i];                                      \
          d[i] = expression;                                         \
        }                                                            \
      }                                                              \
    }                                                                \
  }
NEURON_BLOCK_ACTIVATIONS(X)
#undef X

// Angles beyond the vector form's reduction, and infinite ones, are done again one by one.
#define X(name, expression, exact)                                   \
  void name##Row(void* dst, const void* src, int64_t n) {            \
    float* d = static_cast<float*>(dst);                             \
    const float* s = static_cast<const float*>(src);                 \
    constexpr int64_t kBlock = 64;                                   \
    for (int64_t first = 0; first < n; first += kBlock) {            \
      const int64_t end = first + kBlock < n ? first + kBlock : n;   \
      float angle[kBlock];                                           \
      bool far = false;                                              \
      for (int64_t i = first; i < end; ++i) {                        \
        angle[i - first] = s[i];                                     \
        far |= !(math::Abs(s[i]) < 1e6);                             \
      }                                                              \
      for (int64_t i = first; i < end; ++i) {                        \
        const float x = angle[i - first];                            \
        d[i] = static_cast<float>(expression);                       \
      }                                                              \
      if (!far) continue;                                            \
      for (int64_t i = first; i < end; ++i) {                        \
        const double x = angle[i - first];                           \
        if (!(math::Abs(x) < 1e6)) d[i] = static_cast<float>(exact); \
      }                                                              \
    }                                                                \
  }
NEURON_ANGLE_ACTIVATIONS(X)
#undef X

#define X(name, expression)                               \
  void name##Row(void* dst, const void* src, int64_t n) { \
    float* d = static_cast<float*>(dst);                  \
    const float* s = static_cast<const float*>(src);      \
    for (int64_t i = 0; i < n; ++i) {                     \
      const double x = s[i];                              \
      d[i] = static_cast<float>(expression);              \
    }                                                     \
  }
NEURON_SCALAR_ACTIVATIONS(X)
#undef X

// Operators with two operands that are no plain arithmetic.
#define NEURON_TWO_OPERANDS(X) \
  X(Power, math::Power(a, b))  \
  X(Atan2, math::Atan2(a, b))
#define X(name, expression)                                                             \
  template <int kStrideA, int kStrideB>                                                 \
  void name##Rows(void* dst, const void* pa, const void* pb, int64_t n) {               \
    float* d = static_cast<float*>(dst);                                                \
    const float *x = static_cast<const float*>(pa), *y = static_cast<const float*>(pb); \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) {                              \
      const double a = x[i * kStrideA], b = y[i * kStrideB];                            \
      d[i] = static_cast<float>(expression);                                            \
    }                                                                                   \
  }
NEURON_TWO_OPERANDS(X)
#undef X

}  // namespace activation

void FillActivation(KernelTable& table) {
#define X(name, ...) \
  table.activation[static_cast<int>(isa::ActivationFunction::k##name)] = activation::name##Row;
  NEURON_VECTOR_ACTIVATIONS(X)
  NEURON_BLOCK_ACTIVATIONS(X)
  NEURON_ANGLE_ACTIVATIONS(X)
  NEURON_SCALAR_ACTIVATIONS(X)
#undef X
#define X(name, ...)                                                                \
  {                                                                                 \
    BinaryKernel* forms = table.binary[0][static_cast<int>(isa::AluOp::k##name)];   \
    forms[static_cast<int>(OperandForm::kRowRow)] = activation::name##Rows<1, 1>;   \
    forms[static_cast<int>(OperandForm::kRowValue)] = activation::name##Rows<1, 0>; \
    forms[static_cast<int>(OperandForm::kValueRow)] = activation::name##Rows<0, 1>; \
  }
  NEURON_TWO_OPERANDS(X)
#undef X
}
#undef NEURON_TWO_OPERANDS
#undef NEURON_VECTOR_ACTIVATIONS
#undef NEURON_BLOCK_ACTIVATIONS
#undef NEURON_ANGLE_ACTIVATIONS
#undef NEURON_SCALAR_ACTIVATIONS

}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
