// The Tensor engine's fp32 dot: blocks of 6 x 64 (AVX-512), 6 x 16 (AVX2) or 4 x 8 (portable)
// accumulators held in registers over all of K. One multiply-add per product; fused where the
// target has it, so that only these kernels' bits depend on the target.
namespace neuron::emulator::NEURON_SIMD_NAMESPACE {
namespace matmul {

#if NEURON_SIMD_LEVEL == 2
using Vector = __m512;
constexpr int kWidth = 16, kVectors = 4, kRows = 6;
inline Vector Load(const float* p) { return _mm512_loadu_ps(p); }
inline void Store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
inline Vector Splat(float x) { return _mm512_set1_ps(x); }
inline Vector MulAdd(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
#elif NEURON_SIMD_LEVEL == 1
using Vector = __m256;
constexpr int kWidth = 8, kVectors = 2, kRows = 6;
inline Vector Load(const float* p) { return _mm256_loadu_ps(p); }
inline void Store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
inline Vector Splat(float x) { return _mm256_set1_ps(x); }
inline Vector MulAdd(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
#else
typedef float Vector __attribute__((vector_size(16)));
constexpr int kWidth = 4, kVectors = 2, kRows = 4;
inline Vector Load(const float* p) {
  Vector v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void Store(float* p, Vector v) { __builtin_memcpy(p, &v, sizeof v); }
inline Vector Splat(float x) { return Vector{x, x, x, x}; }
inline Vector MulAdd(Vector a, Vector b, Vector c) { return a * b + c; }
#endif
constexpr int kPanel = kWidth * kVectors;

template <int kM, int kN>
void Micro(char* out, int64_t out_stride, const char* a, int64_t a_stride, const char* b,
           int64_t b_stride, int64_t k, bool accumulate) {
  Vector c[kM][kN];
#pragma GCC unroll 6
  for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j)
      c[i][j] = accumulate ? Load(reinterpret_cast<const float*>(out + i * out_stride) + j * kWidth)
                           : Splat(0.0f);
  }
  for (int64_t step = 0; step < k; ++step, a += a_stride, b += b_stride) {
    const float* ap = reinterpret_cast<const float*>(a);
    const float* bp = reinterpret_cast<const float*>(b);
    Vector row[kN];
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) row[j] = Load(bp + j * kWidth);
#pragma GCC unroll 6
    for (int i = 0; i < kM; ++i) {
      const Vector x = Splat(ap[i]);
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) c[i][j] = MulAdd(x, row[j], c[i][j]);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j)
      Store(reinterpret_cast<float*>(out + i * out_stride) + j * kWidth, c[i][j]);
  }
}

template <int kN>
void Rows(char* out, int64_t out_stride, const char* a, int64_t a_stride, const char* b,
          int64_t b_stride, int64_t k, int64_t m, bool accumulate) {
  int64_t i = 0;
  for (; i + kRows <= m; i += kRows)
    Micro<kRows, kN>(out + i * out_stride, out_stride, a + i * 4, a_stride, b, b_stride, k,
                     accumulate);
  char* o = out + i * out_stride;
  const char* x = a + i * 4;
  switch (m - i) {
    case 1:
      return Micro<1, kN>(o, out_stride, x, a_stride, b, b_stride, k, accumulate);
    case 2:
      return Micro<2, kN>(o, out_stride, x, a_stride, b, b_stride, k, accumulate);
    case 3:
      return Micro<3, kN>(o, out_stride, x, a_stride, b, b_stride, k, accumulate);
#if NEURON_SIMD_LEVEL > 0
    case 4:
      return Micro<4, kN>(o, out_stride, x, a_stride, b, b_stride, k, accumulate);
    case 5:
      return Micro<5, kN>(o, out_stride, x, a_stride, b, b_stride, k, accumulate);
#endif
    default:
      return;
  }
}

// Fewer columns than whole vectors: the operands are padded in scratch.
void Tail(char* out, int64_t out_stride, const char* a, int64_t a_stride, const char* b,
          int64_t b_stride, int64_t k, int64_t m, int64_t n, bool accumulate, float* scratch) {
  const int64_t vectors = (n + kWidth - 1) / kWidth;
  const int64_t pitch = vectors * kWidth;
  float* panel = scratch;
  float* result = scratch + k * pitch;
  for (int64_t step = 0; step < k; ++step) {
    float* to = panel + step * pitch;
    __builtin_memcpy(to, b + step * b_stride, n * 4);
    for (int64_t j = n; j < pitch; ++j) to[j] = 0.0f;
  }
  if (accumulate)
    for (int64_t i = 0; i < m; ++i) {
      __builtin_memcpy(result + i * pitch, out + i * out_stride, n * 4);
      for (int64_t j = n; j < pitch; ++j) result[i * pitch + j] = 0.0f;
    }
  char* r = reinterpret_cast<char*>(result);
  const char* p = reinterpret_cast<const char*>(panel);
  switch (vectors) {
    case 1:
      Rows<1>(r, pitch * 4, a, a_stride, p, pitch * 4, k, m, accumulate);
      break;
    case 2:
      Rows<2>(r, pitch * 4, a, a_stride, p, pitch * 4, k, m, accumulate);
      break;
#if NEURON_SIMD_LEVEL == 2
    case 3:
      Rows<3>(r, pitch * 4, a, a_stride, p, pitch * 4, k, m, accumulate);
      break;
    case 4:
      Rows<4>(r, pitch * 4, a, a_stride, p, pitch * 4, k, m, accumulate);
      break;
#endif
    default:
      break;
  }
  for (int64_t i = 0; i < m; ++i) __builtin_memcpy(out + i * out_stride, result + i * pitch, n * 4);
}

void F32(float* out, int64_t out_stride, const void* stationary, int64_t stationary_stride,
         const void* moving, int64_t moving_stride, int64_t k, int64_t m, int64_t n,
         bool accumulate, void* scratch) {
  char* o = reinterpret_cast<char*>(out);
  const char* a = static_cast<const char*>(stationary);
  const char* b = static_cast<const char*>(moving);
  int64_t j = 0;
  for (; j + kPanel <= n; j += kPanel)
    Rows<kVectors>(o + j * 4, out_stride, a, stationary_stride, b + j * 4, moving_stride, k, m,
                   accumulate);
  if (j < n)
    Tail(o + j * 4, out_stride, a, stationary_stride, b + j * 4, moving_stride, k, m, n - j,
         accumulate, static_cast<float*>(scratch));
}

// A vector of columns that lie side by side in kParts parts.
template <int kParts>
inline Vector LoadColumns(const char* b, const int32_t* columns) {
  if constexpr (kParts == 1) return Load(reinterpret_cast<const float*>(b + columns[0]));
#if NEURON_SIMD_LEVEL == 2
  if constexpr (kParts == 2)
    return _mm512_insertf32x8(
        _mm512_castps256_ps512(_mm256_loadu_ps(reinterpret_cast<const float*>(b + columns[0]))),
        _mm256_loadu_ps(reinterpret_cast<const float*>(b + columns[2])), 1);
#endif
#if NEURON_SIMD_LEVEL > 0
  const auto quad = [&](int q) {
    return _mm_loadu_ps(reinterpret_cast<const float*>(b + columns[q]));
  };
  const auto half = [&](int q) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(quad(q)), quad(q + 1), 1);
  };
#if NEURON_SIMD_LEVEL == 2
  return _mm512_insertf32x8(_mm512_castps256_ps512(half(0)), half(2), 1);
#else
  return half(0);
#endif
#endif
}

// Rows of the result from `m` on, kN vectors of columns; `lanes` of the last one are there.
template <int kM, int kN, int kParts>
void MicroPieces(char* out, int64_t out_stride, const DotPieces& dot, int64_t m,
                 const int32_t* columns, int lanes, bool accumulate) {
  Vector c[kM][kN];
  const auto each = [&](const auto& body) {
#pragma GCC unroll 6
    for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j)
        body(c[i][j], out + i * out_stride + j * kWidth * 4, j + 1 < kN || lanes == kWidth);
  };
  each([&](Vector& sum, const char* at, bool whole) {
    if (!accumulate) {
      sum = Splat(0.0f);
    } else if (whole) {
      sum = Load(reinterpret_cast<const float*>(at));
    } else {
      float part[kWidth] = {};
      __builtin_memcpy(part, at, lanes * 4);
      sum = Load(part);
    }
  });
  for (int64_t piece = 0; piece < dot.count; ++piece) {
    const char* a = dot.stationary[piece] + m * dot.stationary_m;
    const char* b = dot.moving[piece];
    for (int64_t step = 0; step < dot.k; ++step, a += dot.stationary_k, b += dot.moving_k) {
      Vector row[kN];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) row[j] = LoadColumns<kParts>(b, columns + j * (kWidth / 4));
#pragma GCC unroll 6
      for (int i = 0; i < kM; ++i) {
        const Vector x = Splat(*reinterpret_cast<const float*>(a + i * dot.stationary_m));
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j) c[i][j] = MulAdd(x, row[j], c[i][j]);
      }
    }
  }
  each([&](const Vector& sum, char* at, bool whole) {
    if (whole) {
      Store(reinterpret_cast<float*>(at), sum);
    } else {
      float part[kWidth];
      Store(part, sum);
      __builtin_memcpy(at, part, lanes * 4);
    }
  });
}

template <int kN, int kParts>
void RowsOfPieces(char* out, int64_t out_stride, const DotPieces& dot, const int32_t* columns,
                  int lanes, bool accumulate) {
  int64_t m = 0;
  const auto rows = [&]<int kM>() {
    for (; m + kM <= dot.m; m += kM)
      MicroPieces<kM, kN, kParts>(out + m * out_stride, out_stride, dot, m, columns, lanes,
                                  accumulate);
  };
  rows.template operator()<kRows>();
  rows.template operator()<2>();
  rows.template operator()<1>();
}

// Rows of the result that pay for packing the moving operand: else vectors are put together from
// their parts for each few rows again.
constexpr int64_t kRowsWorthPacking = 2 * kRows;
constexpr int64_t kPackedSteps = 256;  // of K: a panel of them stays in the second-level cache

template <int kParts>
void PiecesInPlace(char* out, int64_t out_stride, const DotPieces& dot, bool accumulate) {
  int64_t n = 0;
  const auto panel = [&]<int kN>(int64_t columns) {
    const int64_t last = columns - (kN - 1) * kWidth;
    RowsOfPieces<kN, kParts>(out + n * 4, out_stride, dot, dot.columns + n / 4,
                             static_cast<int>(last), accumulate);
    n += columns;
  };
  while (n + kPanel <= dot.n) panel.template operator()<kVectors>(kPanel);
  while (n < dot.n) panel.template operator()<1>(dot.n - n < kWidth ? dot.n - n : int64_t{kWidth});
}

// kN vectors of columns, the last one of `lanes`, over all pieces: packed, then multiplied.
template <int kN, int kParts>
void PackedPanel(char* out, int64_t out_stride, const DotPieces& dot, const int32_t* columns,
                 int lanes, bool accumulate) {
  alignas(64) float room[kPackedSteps * kN * kWidth];
  const char* at[kPackedSteps];
  int32_t dense[kN * (kWidth / 4)];
  for (int q = 0; q < kN * (kWidth / 4); ++q) dense[q] = q * 16;
  const int64_t most = kPackedSteps / dot.k;
  for (int64_t piece = 0; piece < dot.count; piece += most) {
    DotPieces packed = dot;
    packed.stationary = dot.stationary + piece;
    packed.moving = at;
    packed.count = dot.count - piece < most ? dot.count - piece : most;
    packed.moving_k = kN * kWidth * 4;
    float* to = room;
    for (int64_t i = 0; i < packed.count; ++i) {
      at[i] = reinterpret_cast<const char*>(to);
      const char* from = dot.moving[piece + i];
      for (int64_t step = 0; step < dot.k; ++step, from += dot.moving_k, to += kN * kWidth)
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j)
          Store(to + j * kWidth, LoadColumns<kParts>(from, columns + j * (kWidth / 4)));
    }
    RowsOfPieces<kN, 1>(out, out_stride, packed, dense, lanes, accumulate || piece > 0);
  }
}

template <int kParts>
void PiecesInParts(char* out, int64_t out_stride, const DotPieces& dot, bool accumulate) {
  if (dot.m < kRowsWorthPacking || dot.k > kPackedSteps)
    return PiecesInPlace<kParts>(out, out_stride, dot, accumulate);
  for (int64_t n = 0; n < dot.n; n += kPanel) {
    const int64_t left = dot.n - n;
    const auto panel = [&]<int kN>() {
      const int64_t lanes = left - (kN - 1) * kWidth;
      PackedPanel<kN, kParts>(out + n * 4, out_stride, dot, dot.columns + n / 4,
                              static_cast<int>(lanes < kWidth ? lanes : kWidth), accumulate);
    };
    switch ((left + kWidth - 1) / kWidth) {
      case 1:
        panel.template operator()<1>();
        break;
#if NEURON_SIMD_LEVEL == 2
      case 2:
        panel.template operator()<2>();
        break;
      case 3:
        panel.template operator()<3>();
        break;
#endif
      default:
        panel.template operator()<kVectors>();
    }
  }
}

void Pieces(float* out, int64_t out_stride, const DotPieces& dot, bool accumulate) {
  char* o = reinterpret_cast<char*>(out);
  if (dot.run >= kWidth) return PiecesInParts<1>(o, out_stride, dot, accumulate);
#if NEURON_SIMD_LEVEL == 2
  if (dot.run == kWidth / 2) return PiecesInParts<2>(o, out_stride, dot, accumulate);
#endif
#if NEURON_SIMD_LEVEL > 0
  return PiecesInParts<kWidth / 4>(o, out_stride, dot, accumulate);
#endif
}

#if NEURON_SIMD_LEVEL == 2
#include "emulator/kernels/dot_blocks.inl.h"

struct FloatProduct {
  static __m512 Add(__m512i x, __m512i y, __m512 c) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), c);
  }
};
#endif

}  // namespace matmul

void FillMatmul(KernelTable& table) {
  table.matmul_f32 = matmul::F32;
  table.matmul_pieces = matmul::Pieces;
#if NEURON_SIMD_LEVEL == 2
  table.dot_f32 = matmul::DotInBlocks<matmul::FloatProduct>;
#endif
}

}  // namespace neuron::emulator::NEURON_SIMD_NAMESPACE
