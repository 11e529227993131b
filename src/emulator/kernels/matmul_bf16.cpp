// The bf16 dot of AVX-512 BF16: products of pairs along K are added in one instruction, so a word
// of an operand is a pair of partitions.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "emulator/kernels/families.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,prefer-vector-width=512")
namespace neuron::emulator::avx512_bf16 {

#include "emulator/kernels/dot_blocks.inl.h"

struct PairProduct {
  static __m512 Add(__m512i x, __m512i y, __m512 c) {
    return _mm512_dpbf16_ps(c, (__m512bh)x, (__m512bh)y);
  }
};

// Lane i: (low[i], high[i]) of two partitions; lanes from n on are zero.
inline __m512i Interleave(const uint16_t* low, const uint16_t* high, __mmask16 mask) {
  const __m512i a = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, low));
  if (high == nullptr) return a;
  const __m512i b = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, high));
  return _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
}

// 32 columns of two partitions at once.
inline void InterleaveWide(uint32_t* to, const uint16_t* low, const uint16_t* high) {
  alignas(64) static constexpr uint16_t kFirst[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                      37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                      11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i first = _mm512_load_si512(kFirst);
  const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
  const __m512i a = _mm512_loadu_si512(low), b = _mm512_loadu_si512(high);
  _mm512_storeu_si512(to, _mm512_permutex2var_epi16(a, first, b));
  _mm512_storeu_si512(to + 16, _mm512_permutex2var_epi16(a, second, b));
}

void PairRows(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t rows,
              int64_t n) {
  constexpr int64_t kAhead = 16;  // rows: their pitch is beyond what the host prefetches by itself
  for (int64_t row = 0; row < rows; row += 2) {
    const char* from = static_cast<const char*>(src) + row * src_stride;
    auto* to = reinterpret_cast<uint32_t*>(static_cast<char*>(dst) + row / 2 * dst_stride);
    const auto* low = reinterpret_cast<const uint16_t*>(from);
    const auto* high =
        row + 1 < rows ? reinterpret_cast<const uint16_t*>(from + src_stride) : nullptr;
    if (row + kAhead + 1 < rows) {
      _mm_prefetch(from + kAhead * src_stride, _MM_HINT_T0);
      _mm_prefetch(from + (kAhead + 1) * src_stride, _MM_HINT_T0);
    }
    int64_t j = 0;
    if (high != nullptr)
      for (; j + 32 <= n; j += 32) InterleaveWide(to + j, low + j, high + j);
    for (; j < n; j += 16) {
      const auto mask = n - j >= 16 ? __mmask16(0xffff) : __mmask16((1u << (n - j)) - 1u);
      _mm512_mask_storeu_epi32(to + j, mask,
                               Interleave(low + j, high == nullptr ? nullptr : high + j, mask));
    }
  }
}

}  // namespace neuron::emulator::avx512_bf16
#pragma GCC pop_options

namespace neuron::emulator {
void FillAvx512Bf16Matmul(KernelTable& table) {
  table.dot_bf16 = avx512_bf16::DotInBlocks<avx512_bf16::PairProduct>;
  table.pair_rows = avx512_bf16::PairRows;
}
}  // namespace neuron::emulator
#endif
