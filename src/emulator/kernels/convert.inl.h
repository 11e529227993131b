// Conversion between stored element types and the fp32 or 32-bit integer rows that kernels work
// on. Float to integer rounds to nearest even and saturates, NaN gives 0; integer to narrower
// integer truncates; one rounding to a narrower float.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace convert {

inline float FromHalf(uint16_t bits) {
  // Shifted into place the exponent is 112 too small; a multiplication mends that exactly, for
  // subnormals too. Infinity and NaN then lack the top exponent.
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fffu) << 13;
  const uint32_t normal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t special = magnitude | 0x7f800000u;
  return std::bit_cast<float>(sign | (magnitude >= 0x0f800000u ? special : normal));
}

inline uint16_t ToHalf(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (u >> 16) & 0x8000u;
  const uint32_t a = u & 0x7fffffffu;
  const uint32_t nan = 0x7e00u | ((a >> 13) & 0x1ffu);
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(a) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (a + 0xfffu + ((a >> 13) & 1u) - 0x38000000u) >> 13;
  uint32_t half = a < 0x38800000u ? subnormal : normal;
  half = a >= 0x477ff000u ? 0x7c00u : half;
  half = a > 0x7f800000u ? nan : half;
  return static_cast<uint16_t>(sign | half);
}

inline float FromBrain(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t ToBrain(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const uint32_t nan = (u >> 16) | 0x40u;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

// Ties to even without a rounding instruction, which the portable target lacks.
inline float RoundEven(float x) {
  const float magic =
      std::bit_cast<float>((std::bit_cast<uint32_t>(x) & 0x80000000u) | 0x4b000000u);
  const float a = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7fffffffu);
  const float rounded = (x + magic) - magic;
  return a < 0x1p23f ? rounded : x;
}

inline int32_t ToInt(float x, float low, float high_exclusive, int32_t low_value,
                     int32_t high_value) {
  const float rounded = RoundEven(x);
  const bool inside = (rounded >= low) & (rounded < high_exclusive);
  const int32_t value = static_cast<int32_t>(inside ? rounded : 0.0f);
  int32_t result = rounded < low ? low_value : value;
  result = rounded >= high_exclusive ? high_value : result;
  return result;
}

inline uint32_t ToUnsigned(float x) {
  const float rounded = RoundEven(x);
  const bool top = rounded >= 0x1p31f;
  const bool inside = (rounded > 0.0f) & (rounded < 0x1p32f);
  const float low = inside ? (top ? rounded - 0x1p31f : rounded) : 0.0f;
  const uint32_t value =
      static_cast<uint32_t>(static_cast<int32_t>(low)) + (top ? 0x80000000u : 0u);
  return inside ? value : (rounded >= 0x1p32f ? 0xffffffffu : 0u);
}

inline float FromUnsigned(uint32_t x) {
  // Two exact halves and one rounding, as a double would give.
  return static_cast<float>(static_cast<double>(static_cast<int32_t>(x >> 1)) * 2.0 +
                            static_cast<double>(static_cast<int32_t>(x & 1u)));
}

#define NEURON_CONVERT(name, From, To, expression)         \
  void name(void* dst, const void* src, int64_t n) {       \
    const From* s = static_cast<const From*>(src);         \
    To* d = static_cast<To*>(dst);                         \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) { \
      const From x = s[i];                                 \
      d[i] = static_cast<To>(expression);                  \
    }                                                      \
  }

NEURON_CONVERT(LoadF16, uint16_t, float, FromHalf(x))
NEURON_CONVERT(LoadBF16, uint16_t, float, FromBrain(x))
NEURON_CONVERT(LoadS8, int8_t, float, static_cast<float>(x))
NEURON_CONVERT(LoadU8, uint8_t, float, static_cast<float>(x))
NEURON_CONVERT(LoadS16, int16_t, float, static_cast<float>(x))
NEURON_CONVERT(LoadU16, uint16_t, float, static_cast<float>(x))
NEURON_CONVERT(LoadS32, int32_t, float, static_cast<float>(x))
NEURON_CONVERT(LoadU32, uint32_t, float, FromUnsigned(x))
NEURON_CONVERT(LoadPred, uint8_t, float, x != 0 ? 1.0f : 0.0f)
NEURON_CONVERT(LoadF8E5M2, uint8_t, float, Float8ToFloat(DType::kF8E5M2, x))
NEURON_CONVERT(LoadF8E4M3FN, uint8_t, float, Float8ToFloat(DType::kF8E4M3FN, x))
NEURON_CONVERT(LoadF8E4M3, uint8_t, float, Float8ToFloat(DType::kF8E4M3, x))

NEURON_CONVERT(StoreF16, float, uint16_t, ToHalf(x))
NEURON_CONVERT(StoreBF16, float, uint16_t, ToBrain(x))
NEURON_CONVERT(StoreS8, float, int8_t, ToInt(x, -128.0f, 128.0f, -128, 127))
NEURON_CONVERT(StoreU8, float, uint8_t, ToInt(x, 0.0f, 256.0f, 0, 255))
NEURON_CONVERT(StoreS16, float, int16_t, ToInt(x, -32768.0f, 32768.0f, -32768, 32767))
NEURON_CONVERT(StoreU16, float, uint16_t, ToInt(x, 0.0f, 65536.0f, 0, 65535))
NEURON_CONVERT(StoreS32, float, int32_t, ToInt(x, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX))
NEURON_CONVERT(StoreU32, float, uint32_t, ToUnsigned(x))
NEURON_CONVERT(StorePred, float, uint8_t, x != 0.0f ? 1 : 0)
NEURON_CONVERT(StoreF8E5M2, float, uint8_t, FloatToFloat8(DType::kF8E5M2, x))
NEURON_CONVERT(StoreF8E4M3FN, float, uint8_t, FloatToFloat8(DType::kF8E4M3FN, x))
NEURON_CONVERT(StoreF8E4M3, float, uint8_t, FloatToFloat8(DType::kF8E4M3, x))

NEURON_CONVERT(WidenS8, int8_t, int32_t, x)
NEURON_CONVERT(WidenU8, uint8_t, int32_t, x)
NEURON_CONVERT(WidenS16, int16_t, int32_t, x)
NEURON_CONVERT(WidenU16, uint16_t, int32_t, x)
NEURON_CONVERT(Copy32, uint32_t, uint32_t, x)
NEURON_CONVERT(WidenPred, uint8_t, int32_t, x != 0 ? 1 : 0)
NEURON_CONVERT(Narrow8, uint32_t, uint8_t, x)
NEURON_CONVERT(Narrow16, uint32_t, uint16_t, x)
NEURON_CONVERT(NarrowPred, uint32_t, uint8_t, x != 0 ? 1 : 0)
#undef NEURON_CONVERT

}  // namespace convert

void FillConvert(KernelTable& table) {
  using namespace convert;
  constexpr int kFloat = static_cast<int>(Domain::kFloat);
  const auto row = [&](DType dtype, ConvertKernel load, ConvertKernel store) {
    table.load[kFloat][static_cast<int>(dtype)] = load;
    table.store[kFloat][static_cast<int>(dtype)] = store;
  };
  row(DType::kF32, Copy32, Copy32);
  row(DType::kF16, LoadF16, StoreF16);
  row(DType::kBF16, LoadBF16, StoreBF16);
  row(DType::kS8, LoadS8, StoreS8);
  row(DType::kU8, LoadU8, StoreU8);
  row(DType::kS16, LoadS16, StoreS16);
  row(DType::kU16, LoadU16, StoreU16);
  row(DType::kS32, LoadS32, StoreS32);
  row(DType::kU32, LoadU32, StoreU32);
  row(DType::kPred, LoadPred, StorePred);
  row(DType::kF8E5M2, LoadF8E5M2, StoreF8E5M2);
  row(DType::kF8E4M3FN, LoadF8E4M3FN, StoreF8E4M3FN);
  row(DType::kF8E4M3, LoadF8E4M3, StoreF8E4M3);
  for (const Domain domain : {Domain::kSigned, Domain::kUnsigned}) {
    const auto integer = [&](DType dtype, ConvertKernel load, ConvertKernel store) {
      table.load[static_cast<int>(domain)][static_cast<int>(dtype)] = load;
      table.store[static_cast<int>(domain)][static_cast<int>(dtype)] = store;
    };
    integer(DType::kS8, WidenS8, Narrow8);
    integer(DType::kU8, WidenU8, Narrow8);
    integer(DType::kS16, WidenS16, Narrow16);
    integer(DType::kU16, WidenU16, Narrow16);
    integer(DType::kS32, Copy32, Copy32);
    integer(DType::kU32, Copy32, Copy32);
    integer(DType::kPred, WidenPred, NarrowPred);
  }
}

}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
