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

// Maximum and minimum in any order. The compare chain is one instruction per 16 elements; NaNs and
// zeros of the preferred sign are noted beside it and put right at the end.
template <bool kMax>
void Extreme(void* lanes, const void* row, int64_t n) {
  constexpr int kGroups = 4;  // chains: a compare takes four cycles
  constexpr uint32_t kZero = kMax ? 0u : 0x80000000u;
  float* out = static_cast<float*>(lanes);
  const float* x = static_cast<const float*>(row);
  float best[kGroups * kReduceLanes];
  uint32_t noted[kGroups * kReduceLanes];  // bit 0: a NaN, bit 1: a preferred zero
  for (int g = 0; g < kGroups * kReduceLanes; ++g) {
    best[g] = kMax ? -INFINITY : INFINITY;
    noted[g] = 0;
  }
  int64_t i = 0;
  for (; i + kGroups * kReduceLanes <= n; i += kGroups * kReduceLanes) {
    for (int g = 0; g < kGroups * kReduceLanes; ++g) {
      const float b = x[i + g];
      best[g] = kMax ? (b > best[g] ? b : best[g]) : (b < best[g] ? b : best[g]);
      noted[g] |= (b != b ? 1u : 0u) | (Bits(b) == kZero ? 2u : 0u);
    }
  }
  for (; i < n; ++i) {
    const float b = x[i];
    float& to = best[i % kReduceLanes];
    to = kMax ? (b > to ? b : to) : (b < to ? b : to);
    noted[i % kReduceLanes] |= (b != b ? 1u : 0u) | (Bits(b) == kZero ? 2u : 0u);
  }
  for (int l = 0; l < kReduceLanes; ++l) {
    float lane = out[l];
    for (int g = l; g < kGroups * kReduceLanes; g += kReduceLanes) {
      float value = best[g];
      value = value == 0.0f && (noted[g] & 2u) != 0 ? FromBits(kZero) : value;
      value = (noted[g] & 1u) != 0 ? NAN : value;
      lane = kMax ? Maximum(lane, value) : Minimum(lane, value);
    }
    out[l] = lane;
  }
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
