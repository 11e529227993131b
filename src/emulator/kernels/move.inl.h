// Moving bits: transposes in register blocks, strided copies, copies around the caches.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace move {

template <typename T>
void TransposePlain(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                    int64_t rows, int64_t cols) {
  constexpr int64_t kBlock = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock)
    for (int64_t c0 = 0; c0 < cols; c0 += kBlock) {
      const int64_t r1 = r0 + kBlock < rows ? r0 + kBlock : rows;
      const int64_t c1 = c0 + kBlock < cols ? c0 + kBlock : cols;
      for (int64_t c = c0; c < c1; ++c)
        for (int64_t r = r0; r < r1; ++r) {
          T x;
          __builtin_memcpy(&x, src + r * src_stride + c * sizeof(T), sizeof(T));
          __builtin_memcpy(dst + c * dst_stride + r * sizeof(T), &x, sizeof(T));
        }
    }
}

#if NEURON_SIMD_LEVEL == 2
inline void Shuffle16(__m512i r[16]) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

// Up to 16 rows and columns.
template <bool kWhole>
inline void Transpose4Block(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                            int64_t rows, int64_t cols) {
  const auto of = [](int64_t n) { return __mmask16((1u << n) - 1u); };
  __m512i v[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    v[i] = kWhole     ? _mm512_loadu_si512(src + i * src_stride)
           : i < rows ? _mm512_maskz_loadu_epi32(of(cols), src + i * src_stride)
                      : _mm512_setzero_si512();
  Shuffle16(v);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if constexpr (kWhole) {
      _mm512_storeu_si512(dst + i * dst_stride, v[i]);
    } else if (i < cols) {
      _mm512_mask_storeu_epi32(dst + i * dst_stride, of(rows), v[i]);
    }
  }
}

void Transpose4(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t rows,
                int64_t cols) {
  constexpr int64_t kFew = 32;  // elements; fewer are moved one by one
  for (int64_t r = 0; r < rows; r += 16)
    for (int64_t c = 0; c < cols; c += 16) {
      const int64_t nr = rows - r < 16 ? rows - r : 16;
      const int64_t nc = cols - c < 16 ? cols - c : 16;
      char* to = dst + c * dst_stride + r * 4;
      const char* from = src + r * src_stride + c * 4;
      if (nr == 16 && nc == 16) {
        Transpose4Block<true>(to, dst_stride, from, src_stride, nr, nc);
      } else if (nr * nc >= kFew) {
        Transpose4Block<false>(to, dst_stride, from, src_stride, nr, nc);
      } else {
        TransposePlain<uint32_t>(to, dst_stride, from, src_stride, nr, nc);
      }
    }
}

// Pairs of columns are transposed as 32-bit words, then split into their two rows; 32 rows at a
// time, so that whole cache lines are written.
void Transpose2(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t rows,
                int64_t cols) {
  const int64_t whole_rows = rows / 32 * 32;
  const int64_t whole_cols = cols / 32 * 32;
  const __m512i low =
      _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                       24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(1));
  for (int64_t r = 0; r < whole_rows; r += 32)
    for (int64_t c = 0; c < whole_cols; c += 32) {
      __m512i a[16];
      __m512i b[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(src + (r + i) * src_stride + c * 2);
      Shuffle16(a);
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        b[i] = _mm512_loadu_si512(src + (r + 16 + i) * src_stride + c * 2);
      Shuffle16(b);
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) {
        char* to = dst + (c + 2 * i) * dst_stride + r * 2;
        _mm512_storeu_si512(to, _mm512_permutex2var_epi16(a[i], low, b[i]));
        _mm512_storeu_si512(to + dst_stride, _mm512_permutex2var_epi16(a[i], high, b[i]));
      }
    }
  if (whole_cols < cols && whole_rows > 0)
    TransposePlain<uint16_t>(dst + whole_cols * dst_stride, dst_stride, src + whole_cols * 2,
                             src_stride, whole_rows, cols - whole_cols);
  if (whole_rows < rows)
    TransposePlain<uint16_t>(dst + whole_rows * 2, dst_stride, src + whole_rows * src_stride,
                             src_stride, rows - whole_rows, cols);
}
#elif NEURON_SIMD_LEVEL == 1
void Transpose4(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t rows,
                int64_t cols) {
  const int64_t whole_rows = rows / 8 * 8;
  const int64_t whole_cols = cols / 8 * 8;
  for (int64_t r = 0; r < whole_rows; r += 8)
    for (int64_t c = 0; c < whole_cols; c += 8) {
      __m256 v[8];
      __m256 t[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i)
        v[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(src + (r + i) * src_stride + c * 4));
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        t[2 * i] = _mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]);
      }
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        v[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
        v[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
        v[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
        v[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        t[i] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x20);
        t[i + 4] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x31);
      }
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i)
        _mm256_storeu_ps(reinterpret_cast<float*>(dst + (c + i) * dst_stride + r * 4), t[i]);
    }
  if (whole_cols < cols && whole_rows > 0)
    TransposePlain<uint32_t>(dst + whole_cols * dst_stride, dst_stride, src + whole_cols * 4,
                             src_stride, whole_rows, cols - whole_cols);
  if (whole_rows < rows)
    TransposePlain<uint32_t>(dst + whole_rows * 4, dst_stride, src + whole_rows * src_stride,
                             src_stride, rows - whole_rows, cols);
}
#endif

// n runs of up to 64 bytes, as two moves that may overlap: no branch and no call per run.
template <int kHalf>
void HalvedRuns(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t bytes,
                int64_t n) {
  struct Half {
    char data[kHalf];
  };
  for (; n > 0; --n, dst += dst_stride, src += src_stride) {
    Half first;
    Half second;
    __builtin_memcpy(&first, src, kHalf);
    __builtin_memcpy(&second, src + bytes - kHalf, kHalf);
    __builtin_memcpy(dst, &first, kHalf);
    __builtin_memcpy(dst + bytes - kHalf, &second, kHalf);
  }
}

void Runs(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t bytes,
          int64_t n) {
  if (bytes > 64) {
    for (; n > 0; --n, dst += dst_stride, src += src_stride) __builtin_memmove(dst, src, bytes);
  } else if (bytes >= 32) {
    HalvedRuns<32>(dst, dst_stride, src, src_stride, bytes, n);
  } else if (bytes >= 16) {
    HalvedRuns<16>(dst, dst_stride, src, src_stride, bytes, n);
  } else if (bytes >= 8) {
    HalvedRuns<8>(dst, dst_stride, src, src_stride, bytes, n);
  } else if (bytes >= 4) {
    HalvedRuns<4>(dst, dst_stride, src, src_stride, bytes, n);
  } else {
    for (; n > 0; --n, dst += dst_stride, src += src_stride)
      for (int64_t i = 0; i < bytes; ++i) dst[i] = src[i];
  }
}

template <typename T>
void Line(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n) {
  if (src_stride == 0) {
    T x;
    __builtin_memcpy(&x, src, sizeof(T));
    if (dst_stride == sizeof(T)) {  // vectors
      for (int64_t i = 0; i < n; ++i) __builtin_memcpy(dst + i * sizeof(T), &x, sizeof(T));
      return;
    }
    for (int64_t i = 0; i < n; ++i, dst += dst_stride) __builtin_memcpy(dst, &x, sizeof(T));
    return;
  }
  for (int64_t i = 0; i < n; ++i, dst += dst_stride, src += src_stride)
    __builtin_memcpy(dst, src, sizeof(T));
}

template <typename T>
void Grid(const GridShape& g, char* dst, const char* src) {
  constexpr int64_t kBytes = sizeof(T);
  constexpr int64_t kShort = 8, kBlock = 64;
  if (g.dst_inner == kBytes && g.src_inner == kBytes)
    return Runs(dst, g.dst_outer, src, g.src_outer, g.inner * kBytes, g.outer);
  if (g.inner >= kShort || g.inner >= g.outer) {
    for (int64_t o = 0; o < g.outer; ++o)
      Line<T>(dst + o * g.dst_outer, g.dst_inner, src + o * g.src_outer, g.src_inner, g.inner);
    return;
  }
  // Short lines: the loop across them is the long one.
  for (int64_t o = 0; o < g.outer; o += kBlock)
    for (int64_t i = 0; i < g.inner; ++i)
      Line<T>(dst + o * g.dst_outer + i * g.dst_inner, g.dst_outer,
              src + o * g.src_outer + i * g.src_inner, g.src_outer,
              g.outer - o < kBlock ? g.outer - o : kBlock);
}

struct Wide {
  uint64_t words[2];
};

void Stream(void* dst, const void* src, int64_t bytes) {
#if NEURON_SIMD_LEVEL > 0
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  const int64_t lead = -reinterpret_cast<intptr_t>(d) & 63;
  if (bytes < lead + 64) {
    __builtin_memcpy(d, s, bytes);
    return;
  }
  __builtin_memcpy(d, s, lead);
  int64_t i = lead;
#if NEURON_SIMD_LEVEL == 2
  for (; i + 64 <= bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(d + i), _mm512_loadu_si512(s + i));
#else
  for (; i + 32 <= bytes; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(d + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s + i)));
#endif
  __builtin_memcpy(d + i, s + i, bytes - i);
#else
  __builtin_memcpy(dst, src, bytes);
#endif
}

}  // namespace move

void FillMove(KernelTable& table) {
  table.transpose[1] = move::TransposePlain<uint8_t>;
  table.transpose[2] = move::TransposePlain<uint16_t>;
  table.transpose[4] = move::TransposePlain<uint32_t>;
  table.transpose[8] = move::TransposePlain<uint64_t>;
  table.transpose[16] = move::TransposePlain<move::Wide>;
#if NEURON_SIMD_LEVEL > 0
  table.transpose[4] = move::Transpose4;
#endif
#if NEURON_SIMD_LEVEL == 2
  table.transpose[2] = move::Transpose2;
#endif
  table.grid[1] = move::Grid<uint8_t>;
  table.grid[2] = move::Grid<uint16_t>;
  table.grid[4] = move::Grid<uint32_t>;
  table.grid[8] = move::Grid<uint64_t>;
  table.grid[16] = move::Grid<move::Wide>;
  table.stream = move::Stream;
}

}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
