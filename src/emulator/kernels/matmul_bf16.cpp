// The bf16 dot of AVX-512 BF16: products of pairs along K are added in one instruction, so both
// operands are interleaved in pairs of partitions first, the moving one a panel of 64 columns at a
// time.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "emulator/kernels/families.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,prefer-vector-width=512")
namespace neuron::emulator::avx512_bf16 {

constexpr int kRows = 6, kPanel = 64;

// Lane i: (low[i], high[i]) of two partitions; lanes from n on are zero.
inline __m512i Interleave(const uint16_t* low, const uint16_t* high, int64_t n) {
  const __mmask16 mask = n >= 16 ? __mmask16(0xffff) : __mmask16((1u << (n < 0 ? 0 : n)) - 1u);
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
  _mm512_store_si512(to, _mm512_permutex2var_epi16(a, first, b));
  _mm512_store_si512(to + 16, _mm512_permutex2var_epi16(a, second, b));
}

inline void Pack(uint32_t* to, int64_t pitch, const char* from, int64_t stride, int64_t k,
                 int64_t first, int64_t columns, int64_t n) {
  constexpr int64_t kAhead = 16;  // rows: their pitch is beyond what the host prefetches by itself
  for (int64_t pair = 0; 2 * pair < k; ++pair) {
    const char* row = from + 2 * pair * stride + 2 * first;
    const auto* low = reinterpret_cast<const uint16_t*>(row);
    const auto* high = 2 * pair + 1 < k ? reinterpret_cast<const uint16_t*>(row + stride) : nullptr;
    int64_t j = 0;
    if (high != nullptr)
      for (; j + 32 <= columns && j + 32 <= n; j += 32) {
        if (2 * pair + kAhead < k) {
          _mm_prefetch(row + kAhead * stride + 2 * j, _MM_HINT_T0);
          _mm_prefetch(row + (kAhead + 1) * stride + 2 * j, _MM_HINT_T0);
        }
        InterleaveWide(to + pair * pitch + j, low + j, high + j);
      }
    for (; j < columns; j += 16)
      _mm512_store_si512(to + pair * pitch + j,
                         Interleave(low + j, high == nullptr ? nullptr : high + j, n - j));
  }
}

template <int kM>
void Micro(char* out, int64_t out_stride, const uint32_t* a, int64_t a_pitch, const uint32_t* b,
           int64_t pairs, int64_t n, bool accumulate) {
  __mmask16 mask[4];
  for (int j = 0; j < 4; ++j) {
    const int64_t left = n - 16 * j;
    mask[j] = left >= 16 ? __mmask16(0xffff) : __mmask16((1u << (left < 0 ? 0 : left)) - 1u);
  }
  __m512 c[kM][4];
#pragma GCC unroll 6
  for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      c[i][j] = accumulate
                    ? _mm512_maskz_loadu_ps(
                          mask[j], reinterpret_cast<const float*>(out + i * out_stride) + 16 * j)
                    : _mm512_setzero_ps();
  }
  for (int64_t pair = 0; pair < pairs; ++pair, a += a_pitch, b += kPanel) {
    const __m512bh b0 = (__m512bh)_mm512_load_si512(b);
    const __m512bh b1 = (__m512bh)_mm512_load_si512(b + 16);
    const __m512bh b2 = (__m512bh)_mm512_load_si512(b + 32);
    const __m512bh b3 = (__m512bh)_mm512_load_si512(b + 48);
#pragma GCC unroll 6
    for (int i = 0; i < kM; ++i) {
      const __m512bh x = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[i]));
      c[i][0] = _mm512_dpbf16_ps(c[i][0], x, b0);
      c[i][1] = _mm512_dpbf16_ps(c[i][1], x, b1);
      c[i][2] = _mm512_dpbf16_ps(c[i][2], x, b2);
      c[i][3] = _mm512_dpbf16_ps(c[i][3], x, b3);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      _mm512_mask_storeu_ps(reinterpret_cast<float*>(out + i * out_stride) + 16 * j, mask[j],
                            c[i][j]);
  }
}

void Matmul(float* out, int64_t out_stride, const void* stationary, int64_t stationary_stride,
            const void* moving, int64_t moving_stride, int64_t k, int64_t m, int64_t n,
            bool accumulate, void* scratch) {
  const int64_t pairs = (k + 1) / 2;
  const int64_t a_pitch = (m + 15) / 16 * 16;
  auto* b = static_cast<uint32_t*>(scratch);
  uint32_t* a = b + pairs * kPanel;
  Pack(a, a_pitch, static_cast<const char*>(stationary), stationary_stride, k, 0, a_pitch, m);
  for (int64_t j = 0; j < n; j += kPanel) {
    const int64_t columns = n - j < kPanel ? n - j : kPanel;
    Pack(b, kPanel, static_cast<const char*>(moving), moving_stride, k, j, kPanel, columns);
    char* o = reinterpret_cast<char*>(out + j);
    int64_t i = 0;
    for (; i + kRows <= m; i += kRows)
      Micro<kRows>(o + i * out_stride, out_stride, a + i, a_pitch, b, pairs, columns, accumulate);
    o += i * out_stride;
    switch (m - i) {
      case 1:
        Micro<1>(o, out_stride, a + i, a_pitch, b, pairs, columns, accumulate);
        break;
      case 2:
        Micro<2>(o, out_stride, a + i, a_pitch, b, pairs, columns, accumulate);
        break;
      case 3:
        Micro<3>(o, out_stride, a + i, a_pitch, b, pairs, columns, accumulate);
        break;
      case 4:
        Micro<4>(o, out_stride, a + i, a_pitch, b, pairs, columns, accumulate);
        break;
      case 5:
        Micro<5>(o, out_stride, a + i, a_pitch, b, pairs, columns, accumulate);
        break;
      default:
        break;
    }
  }
}

}  // namespace neuron::emulator::avx512_bf16
#pragma GCC pop_options

namespace neuron::emulator {
void FillAvx512Bf16Matmul(KernelTable& table) { table.matmul_bf16 = avx512_bf16::Matmul; }
}  // namespace neuron::emulator
#endif
