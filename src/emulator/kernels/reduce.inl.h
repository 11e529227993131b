// Reductions of a row into 16 lanes: lane l takes elements l, l + 16, ... on every target, so that
// the order of additions is the same everywhere.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace reduce {

inline uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }
inline float FromBits(uint32_t x) { return std::bit_cast<float>(x); }
inline float Abs(float x) { return FromBits(Bits(x) & 0x7fffffffu); }
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

#define NEURON_REDUCE(name, T, expression)                  \
  void name(void* lanes, const void* row, int64_t n) {      \
    T* out = static_cast<T*>(lanes);                        \
    const T* x = static_cast<const T*>(row);                \
    T acc[kReduceLanes];                                    \
    for (int l = 0; l < kReduceLanes; ++l) acc[l] = out[l]; \
    int64_t i = 0;                                          \
    for (; i + kReduceLanes <= n; i += kReduceLanes) {      \
      for (int l = 0; l < kReduceLanes; ++l) {              \
        const T a = acc[l], b = x[i + l];                   \
        acc[l] = static_cast<T>(expression);                \
      }                                                     \
    }                                                       \
    for (int l = 0; i < n; ++i, ++l) {                      \
      const T a = acc[l], b = x[i];                         \
      acc[l] = static_cast<T>(expression);                  \
    }                                                       \
    for (int l = 0; l < kReduceLanes; ++l) out[l] = acc[l]; \
  }
using U = uint32_t;
NEURON_REDUCE(AddFloat, float, a + b)
NEURON_REDUCE(MultiplyFloat, float, a* b)
NEURON_REDUCE(AbsMaxFloat, float, Maximum(Abs(a), Abs(b)))
NEURON_REDUCE(AbsMinFloat, float, Minimum(Abs(a), Abs(b)))
NEURON_REDUCE(AndFloat, float, ((a != 0.0f) & (b != 0.0f)) ? 1.0f : 0.0f)
NEURON_REDUCE(OrFloat, float, ((a != 0.0f) | (b != 0.0f)) ? 1.0f : 0.0f)
NEURON_REDUCE(XorFloat, float, ((a != 0.0f) ^ (b != 0.0f)) ? 1.0f : 0.0f)
NEURON_REDUCE(AddInt, uint32_t, a + b)
NEURON_REDUCE(MultiplyInt, uint32_t, a* b)
NEURON_REDUCE(MaximumSigned, int32_t, a > b ? a : b)
NEURON_REDUCE(MinimumSigned, int32_t, a < b ? a : b)
NEURON_REDUCE(MaximumUnsigned, uint32_t, a > b ? a : b)
NEURON_REDUCE(MinimumUnsigned, uint32_t, a < b ? a : b)
NEURON_REDUCE(BitwiseAndInt, uint32_t, a& b)
NEURON_REDUCE(BitwiseOrInt, uint32_t, a | b)
NEURON_REDUCE(BitwiseXorInt, uint32_t, a ^ b)
NEURON_REDUCE(AndInt, uint32_t, (a != 0) & (b != 0))
NEURON_REDUCE(OrInt, uint32_t, (a != 0) | (b != 0))
NEURON_REDUCE(XorInt, uint32_t, (a != 0) ^ (b != 0))
#undef NEURON_REDUCE

// Bits ordered as integers: -NaN, -inf ... -0, +0 ... inf, NaN. Its own inverse.
inline int32_t OrderedBits(int32_t bits) { return bits ^ ((bits >> 31) & 0x7fffffff); }

// Maximum and minimum in any order, by the order of the bits: three instructions per vector, and
// zeros come out right. NaNs lie at both ends, so both are looked at. Leaves 16 lanes.
inline void OrderedExtremes(const void* row, int64_t n, int32_t* most, int32_t* least) {
  constexpr int kGroups = 4;  // chains: a comparison takes some cycles
  constexpr int kWidth = kGroups * kReduceLanes;
  const int32_t* x = static_cast<const int32_t*>(row);
  int32_t high[kWidth];
  int32_t low[kWidth];
  for (int g = 0; g < kWidth; ++g) {
    high[g] = OrderedBits(std::bit_cast<int32_t>(-INFINITY));
    low[g] = OrderedBits(std::bit_cast<int32_t>(INFINITY));
  }
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    for (int g = 0; g < kWidth; ++g) {
      const int32_t b = OrderedBits(x[i + g]);
      high[g] = b > high[g] ? b : high[g];
      low[g] = b < low[g] ? b : low[g];
    }
  }
  for (; i < n; ++i) {
    const int lane = static_cast<int>(i % kReduceLanes);
    const int32_t b = OrderedBits(x[i]);
    high[lane] = b > high[lane] ? b : high[lane];
    low[lane] = b < low[lane] ? b : low[lane];
  }
  for (int l = 0; l < kReduceLanes; ++l) {
    most[l] = high[l];
    least[l] = low[l];
    for (int g = l + kReduceLanes; g < kWidth; g += kReduceLanes) {
      most[l] = high[g] > most[l] ? high[g] : most[l];
      least[l] = low[g] < least[l] ? low[g] : least[l];
    }
  }
}

template <bool kMax>
float ExtremeOf(int32_t most, int32_t least) {
  const bool nan = (most > OrderedBits(std::bit_cast<int32_t>(INFINITY))) |
                   (least < OrderedBits(std::bit_cast<int32_t>(-INFINITY)));
  return nan ? NAN : std::bit_cast<float>(OrderedBits(kMax ? most : least));
}

template <bool kMax>
void Extreme(void* lanes, const void* row, int64_t n) {
  int32_t most[kReduceLanes];
  int32_t least[kReduceLanes];
  OrderedExtremes(row, n, most, least);
  float* out = static_cast<float*>(lanes);
  for (int l = 0; l < kReduceLanes; ++l) {
    const float value = ExtremeOf<kMax>(most[l], least[l]);
    out[l] = kMax ? Maximum(out[l], value) : Minimum(out[l], value);
  }
}

template <bool kMax>
void ExtremeRows(uint32_t* results, const void* rows, int64_t row_bytes, int64_t num_rows,
                 int64_t n) {
  for (int64_t r = 0; r < num_rows; ++r) {
    int32_t most[kReduceLanes];
    int32_t least[kReduceLanes];
    OrderedExtremes(static_cast<const char*>(rows) + r * row_bytes, n, most, least);
    for (int half = kReduceLanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) {
        most[l] = most[l + half] > most[l] ? most[l + half] : most[l];
        least[l] = least[l + half] < least[l] ? least[l + half] : least[l];
      }
    results[r] = Bits(ExtremeOf<kMax>(most[0], least[0]));
  }
}

inline float FoldSum(float* lanes) {
  for (int l = 0; l < 8; ++l) lanes[l] += lanes[l + 8];
  for (int l = 0; l < 4; ++l) lanes[l] += lanes[l + 4];
  for (int l = 0; l < 2; ++l) lanes[l] += lanes[l + 2];
  return lanes[0] + lanes[1];
}

using Lanes = float __attribute__((vector_size(kReduceLanes * 4)));

struct Floats {
  using Element = float;
  static float Of(float x) { return x; }
  static Lanes Load(const float* x) {
    Lanes lanes;
    __builtin_memcpy(&lanes, x, sizeof lanes);
    return lanes;
  }
};

struct Brains {
  using Element = uint16_t;
  static float Of(uint16_t x) { return FromBits(static_cast<uint32_t>(x) << 16); }
  static Lanes Load(const uint16_t* x) {
    using Narrow = uint16_t __attribute__((vector_size(kReduceLanes * 2)));
    using Wide = uint32_t __attribute__((vector_size(kReduceLanes * 4)));
    Narrow narrow;
    __builtin_memcpy(&narrow, x, sizeof narrow);
    const Wide wide = __builtin_convertvector(narrow, Wide) << 16;
    Lanes lanes;
    __builtin_memcpy(&lanes, &wide, sizeof lanes);
    return lanes;
  }
};

// Rows are sums of their own: while one waits for an addition, the others go on.
template <typename Format, int kRows>
void AddFewRows(uint32_t* results, const char* rows, int64_t row_bytes, int64_t n) {
  using Element = typename Format::Element;
  const auto row = [&](int r) { return reinterpret_cast<const Element*>(rows + r * row_bytes); };
  Lanes sums[kRows] = {};
  int64_t i = 0;
  for (; i + kReduceLanes <= n; i += kReduceLanes)
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r] += Format::Load(row(r) + i);
  for (int r = 0; r < kRows; ++r) {
    alignas(64) float lanes[kReduceLanes];
    __builtin_memcpy(lanes, &sums[r], sizeof lanes);
    for (int64_t j = i; j < n; ++j) lanes[j - i] += Format::Of(row(r)[j]);
    results[r] = Bits(FoldSum(lanes));
  }
}

template <typename Format>
void AddRows(uint32_t* results, const void* rows, int64_t row_bytes, int64_t num_rows, int64_t n) {
  constexpr int kAtOnce = 4;
  const char* at = static_cast<const char*>(rows);
  int64_t r = 0;
  for (; r + kAtOnce <= num_rows; r += kAtOnce)
    AddFewRows<Format, kAtOnce>(results + r, at + r * row_bytes, row_bytes, n);
  for (; r < num_rows; ++r) AddFewRows<Format, 1>(results + r, at + r * row_bytes, row_bytes, n);
}

}  // namespace reduce

void FillReduce(KernelTable& table) {
  using isa::AluOp;
  const auto row = [&](Domain domain, AluOp op, ReduceKernel kernel) {
    table.reduce[static_cast<int>(domain)][static_cast<int>(op)] = kernel;
  };
  row(Domain::kFloat, AluOp::kAdd, reduce::AddFloat);
  row(Domain::kFloat, AluOp::kAverage, reduce::AddFloat);
  row(Domain::kFloat, AluOp::kMultiply, reduce::MultiplyFloat);
  row(Domain::kFloat, AluOp::kMaximum, reduce::Extreme<true>);
  row(Domain::kFloat, AluOp::kMinimum, reduce::Extreme<false>);
  table.reduce_rows[static_cast<int>(AluOp::kAdd)] = reduce::AddRows<reduce::Floats>;
  table.reduce_bf16_rows[static_cast<int>(AluOp::kAdd)] = reduce::AddRows<reduce::Brains>;
  table.reduce_rows[static_cast<int>(AluOp::kMaximum)] = reduce::ExtremeRows<true>;
  table.reduce_rows[static_cast<int>(AluOp::kMinimum)] = reduce::ExtremeRows<false>;
  row(Domain::kFloat, AluOp::kAbsMax, reduce::AbsMaxFloat);
  row(Domain::kFloat, AluOp::kAbsMin, reduce::AbsMinFloat);
  row(Domain::kFloat, AluOp::kLogicalAnd, reduce::AndFloat);
  row(Domain::kFloat, AluOp::kLogicalOr, reduce::OrFloat);
  row(Domain::kFloat, AluOp::kLogicalXor, reduce::XorFloat);
  for (const Domain domain : {Domain::kSigned, Domain::kUnsigned}) {
    row(domain, AluOp::kAdd, reduce::AddInt);
    row(domain, AluOp::kMultiply, reduce::MultiplyInt);
    row(domain, AluOp::kBitwiseAnd, reduce::BitwiseAndInt);
    row(domain, AluOp::kBitwiseOr, reduce::BitwiseOrInt);
    row(domain, AluOp::kBitwiseXor, reduce::BitwiseXorInt);
    row(domain, AluOp::kLogicalAnd, reduce::AndInt);
    row(domain, AluOp::kLogicalOr, reduce::OrInt);
    row(domain, AluOp::kLogicalXor, reduce::XorInt);
  }
  row(Domain::kSigned, AluOp::kMaximum, reduce::MaximumSigned);
  row(Domain::kSigned, AluOp::kMinimum, reduce::MinimumSigned);
  row(Domain::kUnsigned, AluOp::kMaximum, reduce::MaximumUnsigned);
  row(Domain::kUnsigned, AluOp::kMinimum, reduce::MinimumUnsigned);
}

}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
