// ALU operators on rows, in three operand forms each.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace alu {

inline uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }
inline float FromBits(uint32_t x) { return std::bit_cast<float>(x); }
inline float Abs(float x) { return FromBits(Bits(x) & 0x7fffffffu); }
inline float Truth(bool x) { return x ? 1.0f : 0.0f; }

// NaN if either is NaN; +0 is above -0.
inline float Maximum(float a, float b) {
  float r = a > b ? a : b;
  r = a == b ? FromBits(Bits(a) & Bits(b)) : r;
  return (a != a) | (b != b) ? a + b : r;
}
inline float Minimum(float a, float b) {
  float r = a < b ? a : b;
  r = a == b ? FromBits(Bits(a) | Bits(b)) : r;
  return (a != a) | (b != b) ? a + b : r;
}

// Rounding to integers without an instruction for it: adding 2^23 drops the fraction, to even.
inline float RoundEven(float x) {
  const float magic = FromBits((Bits(x) & 0x80000000u) | 0x4b000000u);
  const float rounded = (x + magic) - magic;
  // The sign of a zero result is x's.
  const float signed_result = FromBits((Bits(rounded) & 0x7fffffffu) | (Bits(x) & 0x80000000u));
  return Abs(x) < 0x1p23f ? signed_result : x;
}
inline float Floor(float x) {
  const float r = RoundEven(x);
  return r > x ? r - 1.0f : r;
}
inline float Ceil(float x) {
  const float r = RoundEven(x);
  const float up = r < x ? r + 1.0f : r;
  return FromBits(Bits(up) | (Bits(x) & 0x80000000u));  // (-1, 0) gives -0
}
inline float Trunc(float x) {
  const float a = Abs(x);
  const float r = RoundEven(a);
  const float down = r > a ? r - 1.0f : r;
  return FromBits(Bits(down) | (Bits(x) & 0x80000000u));
}
inline float Sign(float x) { return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x); }
inline float Relu(float x) { return x <= 0.0f ? 0.0f : x; }
inline float Copysign(float a, float b) {
  return FromBits((Bits(a) & 0x7fffffffu) | (Bits(b) & 0x80000000u));
}

inline int32_t DivideInt(int32_t a, int32_t b) {
  // A double quotient of 32-bit integers truncates exactly. x / 0 is -1, as in HLO.
  const double q = static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b);
  const int32_t whole = static_cast<int32_t>(q >= 2147483648.0 ? -2147483648.0 : q);
  return b == 0 ? -1 : whole;
}
inline int32_t RemainderInt(int32_t a, int32_t b) {
  const int32_t q = DivideInt(a, b);
  const int32_t r = static_cast<int32_t>(static_cast<uint32_t>(a) -
                                         static_cast<uint32_t>(q) * static_cast<uint32_t>(b));
  return b == 0 ? a : r;
}
inline uint32_t DivideUnsigned(uint32_t a, uint32_t b) { return b == 0 ? 0xffffffffu : a / b; }
inline uint32_t RemainderUnsigned(uint32_t a, uint32_t b) { return b == 0 ? a : a % b; }
inline uint32_t PowerInt(uint32_t base, int32_t exponent) {
  if (exponent < 0) {
    if (base == 1u) return 1u;
    if (base == 0xffffffffu) return (exponent & 1) ? base : 1u;
    return 0u;
  }
  uint32_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}
inline uint32_t ShiftLeft(uint32_t a, uint32_t b) { return b > 31u ? 0u : a << (b & 31u); }
inline uint32_t ShiftRight(uint32_t a, uint32_t b) { return b > 31u ? 0u : a >> (b & 31u); }
inline int32_t ShiftArith(int32_t a, uint32_t b) { return a >> (b > 31u ? 31u : b); }
inline uint32_t PopulationCount(uint32_t x) {
  x = x - ((x >> 1) & 0x55555555u);
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0fu;
  return (x * 0x01010101u) >> 24;
}
inline uint32_t LeadingZeros(uint32_t x) {
  x |= x >> 1;
  x |= x >> 2;
  x |= x >> 4;
  x |= x >> 8;
  x |= x >> 16;
  return 32u - PopulationCount(x);
}

#define NEURON_BINARY(name, T, expression)                                    \
  void name##RowRow(void* dst, const void* pa, const void* pb, int64_t n) {   \
    T* d = static_cast<T*>(dst);                                              \
    const T *x = static_cast<const T*>(pa), *y = static_cast<const T*>(pb);   \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) {                    \
      [[maybe_unused]] const T a = x[i], b = y[i];                            \
      d[i] = static_cast<T>(expression);                                      \
    }                                                                         \
  }                                                                           \
  void name##RowValue(void* dst, const void* pa, const void* pb, int64_t n) { \
    T* d = static_cast<T*>(dst);                                              \
    const T* x = static_cast<const T*>(pa);                                   \
    [[maybe_unused]] const T b = *static_cast<const T*>(pb);                  \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) {                    \
      [[maybe_unused]] const T a = x[i];                                      \
      d[i] = static_cast<T>(expression);                                      \
    }                                                                         \
  }                                                                           \
  void name##ValueRow(void* dst, const void* pa, const void* pb, int64_t n) { \
    T* d = static_cast<T*>(dst);                                              \
    [[maybe_unused]] const T a = *static_cast<const T*>(pa);                  \
    const T* y = static_cast<const T*>(pb);                                   \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) {                    \
      [[maybe_unused]] const T b = y[i];                                      \
      d[i] = static_cast<T>(expression);                                      \
    }                                                                         \
  }
#define NEURON_UNARY(name, T, expression)                  \
  void name(void* dst, const void* src, int64_t n) {       \
    T* d = static_cast<T*>(dst);                           \
    const T* s = static_cast<const T*>(src);               \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) { \
      [[maybe_unused]] const T a = s[i];                   \
      d[i] = static_cast<T>(expression);                   \
    }                                                      \
  }

#define NEURON_FLOAT_BINARY(X)                    \
  X(Add, a + b)                                   \
  X(Subtract, a - b)                              \
  X(Multiply, a* b)                               \
  X(Maximum, Maximum(a, b))                       \
  X(Minimum, Minimum(a, b))                       \
  X(Equal, Truth(a == b))                         \
  X(NotEqual, Truth(a != b))                      \
  X(Greater, Truth(a > b))                        \
  X(GreaterEqual, Truth(a >= b))                  \
  X(Less, Truth(a < b))                           \
  X(LessEqual, Truth(a <= b))                     \
  X(LogicalAnd, Truth((a != 0.0f) & (b != 0.0f))) \
  X(LogicalOr, Truth((a != 0.0f) | (b != 0.0f)))  \
  X(LogicalXor, Truth((a != 0.0f) ^ (b != 0.0f))) \
  X(AbsMax, Maximum(Abs(a), Abs(b)))              \
  X(AbsMin, Minimum(Abs(a), Abs(b)))              \
  X(Divide, a / b)                                \
  X(Copysign, Copysign(a, b))                     \
  X(Bypass, a)                                    \
  X(Remainder, std::fmod(a, b))                   \
  X(NextAfter, std::nextafter(a, b))

#define NEURON_FLOAT_UNARY(X)                \
  X(Abs, Abs(a))                             \
  X(Square, a* a)                            \
  X(Relu, Relu(a))                           \
  X(Rsqrt, 1.0f / __builtin_sqrtf(a))        \
  X(Reciprocal, 1.0f / a)                    \
  X(Floor, Floor(a))                         \
  X(Ceil, Ceil(a))                           \
  X(Trunc, Trunc(a))                         \
  X(RoundEven, RoundEven(a))                 \
  X(Negate, FromBits(Bits(a) ^ 0x80000000u)) \
  X(Sign, Sign(a))                           \
  X(IsFinite, Truth(Abs(a) < INFINITY))      \
  X(Not, Truth(a == 0.0f))                   \
  X(Sqrt, __builtin_sqrtf(a))                \
  X(Bypass, a)

// On both integer domains; U is the unsigned type, for wrapping arithmetic.
#define NEURON_INT_BINARY(X)                        \
  X(Add, U(a) + U(b))                               \
  X(Subtract, U(a) - U(b))                          \
  X(Multiply, U(a) * U(b))                          \
  X(Maximum, a > b ? a : b)                         \
  X(Minimum, a < b ? a : b)                         \
  X(Equal, a == b)                                  \
  X(NotEqual, a != b)                               \
  X(Greater, a > b)                                 \
  X(GreaterEqual, a >= b)                           \
  X(Less, a < b)                                    \
  X(LessEqual, a <= b)                              \
  X(LogicalAnd, (a != 0) & (b != 0))                \
  X(LogicalOr, (a != 0) | (b != 0))                 \
  X(LogicalXor, (a != 0) ^ (b != 0))                \
  X(Bypass, a)                                      \
  X(Power, PowerInt(U(a), static_cast<int32_t>(b))) \
  X(BitwiseAnd, a& b)                               \
  X(BitwiseOr, a | b)                               \
  X(BitwiseXor, a ^ b)                              \
  X(LeftShift, ShiftLeft(U(a), U(b)))               \
  X(RightShift, ShiftRight(U(a), U(b)))             \
  X(ArithRightShift, ShiftArith(static_cast<int32_t>(a), U(b)))

#define NEURON_INT_UNARY(X)                 \
  X(Square, U(a) * U(a))                    \
  X(Not, a == 0)                            \
  X(Invert, ~a)                             \
  X(Negate, 0u - U(a))                      \
  X(CountLeadingZeros, LeadingZeros(U(a)))  \
  X(PopulationCount, PopulationCount(U(a))) \
  X(Bypass, a)                              \
  X(IsFinite, 1)                            \
  X(Floor, a)                               \
  X(Ceil, a)                                \
  X(Trunc, a)                               \
  X(RoundEven, a)

using U = uint32_t;
namespace f32 {
#define X(name, expression) NEURON_BINARY(name##Binary, float, expression)
NEURON_FLOAT_BINARY(X)
#undef X
#define X(name, expression) NEURON_UNARY(name##Unary, float, expression)
NEURON_FLOAT_UNARY(X)
#undef X
}  // namespace f32
namespace s32 {
#define X(name, expression) NEURON_BINARY(name##Binary, int32_t, expression)
NEURON_INT_BINARY(X)
X(AbsMax, std::max(U(a < 0 ? 0u - U(a) : a), U(b < 0 ? 0u - U(b) : b)))
X(AbsMin, std::min(U(a < 0 ? 0u - U(a) : a), U(b < 0 ? 0u - U(b) : b)))
X(Divide, DivideInt(a, b))
X(Remainder, RemainderInt(a, b))
#undef X
#define X(name, expression) NEURON_UNARY(name##Unary, int32_t, expression)
NEURON_INT_UNARY(X)
X(Abs, a < 0 ? 0u - U(a) : a)
X(Relu, a > 0 ? a : 0)
X(Sign, (a > 0) - (a < 0))
#undef X
}  // namespace s32
namespace u32 {
#define X(name, expression) NEURON_BINARY(name##Binary, uint32_t, expression)
NEURON_INT_BINARY(X)
X(AbsMax, std::max(a, b))
X(AbsMin, std::min(a, b))
X(Divide, DivideUnsigned(a, b))
X(Remainder, RemainderUnsigned(a, b))
#undef X
#define X(name, expression) NEURON_UNARY(name##Unary, uint32_t, expression)
NEURON_INT_UNARY(X)
X(Abs, a)
X(Relu, a)
X(Sign, a != 0)
#undef X
}  // namespace u32
#undef NEURON_BINARY
#undef NEURON_UNARY

void SelectRow(void* dst, const uint32_t* predicate, const void* pa, const void* pb, int64_t n) {
  uint32_t* d = static_cast<uint32_t*>(dst);
  const uint32_t *a = static_cast<const uint32_t*>(pa), *b = static_cast<const uint32_t*>(pb);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t x = a[i];
    const uint32_t y = b[i];
    d[i] = predicate[i] != 0 ? x : y;
  }
}

}  // namespace alu

void FillAlu(KernelTable& table) {
  using isa::AluOp;
  const auto binary = [&](Domain domain, AluOp op, BinaryKernel row_row, BinaryKernel row_value,
                          BinaryKernel value_row) {
    BinaryKernel* forms = table.binary[static_cast<int>(domain)][static_cast<int>(op)];
    forms[static_cast<int>(OperandForm::kRowRow)] = row_row;
    forms[static_cast<int>(OperandForm::kRowValue)] = row_value;
    forms[static_cast<int>(OperandForm::kValueRow)] = value_row;
  };
  const auto unary = [&](Domain domain, AluOp op, UnaryKernel kernel) {
    table.unary[static_cast<int>(domain)][static_cast<int>(op)] = kernel;
  };
#define NEURON_BINARY_ROWS(domain, space, name)                          \
  binary(Domain::domain, AluOp::k##name, alu::space::name##BinaryRowRow, \
         alu::space::name##BinaryRowValue, alu::space::name##BinaryValueRow);
#define X(name, expression) NEURON_BINARY_ROWS(kFloat, f32, name)
  NEURON_FLOAT_BINARY(X)
#undef X
#define X(name, expression) unary(Domain::kFloat, AluOp::k##name, alu::f32::name##Unary);
  NEURON_FLOAT_UNARY(X)
#undef X
#define X(name, expression)              \
  NEURON_BINARY_ROWS(kSigned, s32, name) \
  NEURON_BINARY_ROWS(kUnsigned, u32, name)
  NEURON_INT_BINARY(X)
  X(AbsMax, )
  X(AbsMin, )
  X(Divide, )
  X(Remainder, )
#undef X
#define X(name, expression)                                      \
  unary(Domain::kSigned, AluOp::k##name, alu::s32::name##Unary); \
  unary(Domain::kUnsigned, AluOp::k##name, alu::u32::name##Unary);
  NEURON_INT_UNARY(X)
  X(Abs, )
  X(Relu, )
  X(Sign, )
#undef X
#undef NEURON_BINARY_ROWS
  table.select = alu::SelectRow;
}
#undef NEURON_FLOAT_BINARY
#undef NEURON_FLOAT_UNARY
#undef NEURON_INT_BINARY
#undef NEURON_INT_UNARY

}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
