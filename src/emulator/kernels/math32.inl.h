// Elementary functions evaluated in fp32, for those that models spend their time in.
//
// Without branches, as in math.inl.h, within about one unit in the last place. Fused multiply-adds
// are written out: one rounding on every target, so the bits are the same everywhere (the portable
// target pays a call for each). Coefficients: Chebyshev interpolation or minimax fits of the named
// function, computed with 40 digits.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace math {

inline float Fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline uint32_t Bits32(float x) { return std::bit_cast<uint32_t>(x); }
inline float FromBits32(uint32_t x) { return std::bit_cast<float>(x); }
inline float Abs32(float x) { return FromBits32(Bits32(x) & 0x7fffffffu); }
// The bits of `a` where mask is all ones, of `b` where it is 0.
inline uint32_t Blend(uint32_t mask, uint32_t a, uint32_t b) { return (a & mask) | (b & ~mask); }
inline uint32_t MaskOf(bool x) { return 0u - static_cast<uint32_t>(x); }

constexpr float kMagic32 = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits

// The smaller one; b if it is NaN.
inline float Least(float a, float b) { return a < b ? a : b; }

// k + kMagic32, for k the integer nearest to a / ln(2).
inline float ExpShifted(float a) { return Fma(a, 1.44269504f, kMagic32); }
// exp(a) / 2^k: a = k ln(2) + r with |r| <= ln(2) / 2.
inline float ExpMantissa(float a, float k) {
  const float r = Fma(k, 2.12194440e-4f, Fma(k, -0.693359375f, a));
  float p = 0.00139504852f;
  p = Fma(p, r, 0.00836888796f);
  p = Fma(p, r, 0.0416662059f);
  p = Fma(p, r, 0.166665189f);
  p = Fma(p, r, 0.50000001f);
  return Fma(p, r * r, r) + 1.0f;
}

inline float Exp32(float x) {
  // Beyond 104 the result is 0 or infinite all the same.
  const float a = FromBits32(Bits32(Least(104.0f, Abs32(x))) | (Bits32(x) & 0x80000000u));
  const float shifted = ExpShifted(a);
  const float p = ExpMantissa(a, shifted - kMagic32);
  // 2^k in two factors: the result may be subnormal, or the scale beyond the exponent's range.
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kMagic32);
  const int32_t half = n >> 1;
  const float scale1 = std::bit_cast<float>((half + 127) << 23);
  const float scale2 = std::bit_cast<float>((n - half + 127) << 23);
  return (p * scale1) * scale2;
}

// The same bits for magnitudes up to this one, whose results are normal: 2^k goes into the
// exponent.
constexpr float kNormalExp32 = 87.0f;
inline float NormalExp32(float x) {
  const float shifted = ExpShifted(x);
  return FromBits32(Bits32(ExpMantissa(x, shifted - kMagic32)) + (Bits32(shifted) << 23));
}

// 2^(a b) for products in [-120, 0]: a normal result, good to two units. Not for NaN.
inline float Exp2OfNegative(float a, float b) {
  const float shifted = Fma(a, b, kMagic32);
  const float r = Fma(a, b, kMagic32 - shifted);
  float p = 0.000154763f;
  p = Fma(p, r, 0.00134002697f);
  p = Fma(p, r, 0.00961800389f);
  p = Fma(p, r, 0.0555032779f);
  p = Fma(p, r, 0.240226513f);
  p = Fma(p, r, 0.693147206f);
  p = Fma(p, r, 1.0f);
  return FromBits32(Bits32(p) + (Bits32(shifted) << 23));
}

// A polynomial times x near 0 (and for NaN), else 1 - 2^q with another.
inline float Erf32(float x) {
  const float z = x * x;
  float p = 0.00451235773f;
  p = Fma(p, z, -0.0266469862f);
  p = Fma(p, z, 0.112809917f);
  p = Fma(p, z, -0.376125126f);
  p = Fma(p, z, 0.128379158f);            // of erf(x) - x
  const float a = Least(4.0f, Abs32(x));  // from there on it is 1
  float q = 0.000298481575f;
  q = Fma(q, a, -0.00457431793f);
  q = Fma(q, a, 0.0328744826f);
  q = Fma(q, a, -0.151702278f);
  q = Fma(q, a, -0.917221839f);
  q = Fma(q, a, -1.62809117f);
  const float far = 1.0f - Exp2OfNegative(q, a);
  return FromBits32(Blend(MaskOf(Abs32(x) >= 0.6f), Bits32(far) | (Bits32(x) & 0x80000000u),
                          Bits32(Fma(x, p, x))));
}

// A polynomial times |x| near 0 (and for NaN), else (1 - e) / (1 + e) with e = exp(-2|x|).
inline float Tanh32(float x) {
  const float a = Abs32(x);
  const float z = x * x;
  float p = -0.00628247129f;
  p = Fma(p, z, 0.0210777569f);
  p = Fma(p, z, -0.0538538576f);
  p = Fma(p, z, 0.133326017f);
  p = Fma(p, z, -0.33333318f);
  const float e = Exp2OfNegative(-2.88539008f, Least(9.1f, a));  // 1 from there on
  const float far = (1.0f - e) / (1.0f + e);
  return FromBits32(Blend(MaskOf(a >= 0.55f), Bits32(far), Bits32(Fma(p * z, a, a))) |
                    (Bits32(x) & 0x80000000u));
}

// 1 / (1 + e) with e = exp(-|x|), times e on the left, where the result goes down to subnormals.
inline float Sigmoid32(float x) {
  const float e = Exp32(FromBits32(Bits32(x) | 0x80000000u));
  const float right = 1.0f / (1.0f + e);
  return x < 0.0f ? e * right : right;
}

inline float Silu32(float x) { return x * Sigmoid32(x); }

// As PyTorch's CPU kernels write them: exact to fp32 around 1, absolutely so in the left tail. The
// compiler knows these chains of operations, so they are to be kept bit by bit.
inline float Gelu32(float x) { return (0.5f * x) * (1.0f + Erf32(x * 0.707106781f)); }
inline float GeluTanh32(float x) {
  const float inner = (x + ((x * x) * x) * 0.044715f) * 0.797884561f;
  return (0.5f * x) * (1.0f + Tanh32(inner));
}
inline float GeluDx32(float x) {
  const float cdf = (Erf32(x * 0.707106781f) + 1.0f) * 0.5f;
  return cdf + x * (Exp32((x * x) * -0.5f) * 0.398942280f);
}

}  // namespace math
}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
