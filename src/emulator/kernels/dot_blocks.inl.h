// A dot of operands in blocks, 8 rows by 32 columns of accumulators at a time, held in registers
// over all parts. Included where AVX-512 is on, in a namespace of its own; Product says what a
// 32-bit word of an operand is: `Add(x, y, c)` is c + x * y.

template <typename Product, int kM, int kN>
void BlockTile(char* out, int64_t out_stride, const DotPart* parts, int64_t count, int64_t row,
               int64_t column, __mmask16 last, bool accumulate) {
  __m512 c[kM][kN];
  const auto lanes = [&](int j) { return j + 1 < kN ? __mmask16(0xffff) : last; };
#pragma GCC unroll 8
  for (int i = 0; i < kM; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kN; ++j)
      c[i][j] = accumulate ? _mm512_maskz_loadu_ps(
                                 lanes(j), reinterpret_cast<float*>(out + i * out_stride) + 16 * j)
                           : _mm512_setzero_ps();
  for (const DotPart* part = parts; part != parts + count; ++part) {
    const int64_t a_block = row / kDotRows, b_block = column / kDotColumns;
    const char* a = part->stationary.data + a_block * part->stationary.block + row % kDotRows * 4;
    const char* b = part->moving.data + b_block * part->moving.block;
    const int64_t a_step = part->stationary.StepOf(a_block);
    const int64_t b_step = part->moving.StepOf(b_block);
    for (int64_t k = 0; k < part->steps; ++k, a += a_step, b += b_step) {
      __m512i y[kN];
#pragma GCC unroll 2
      for (int j = 0; j < kN; ++j) y[j] = _mm512_maskz_loadu_epi32(lanes(j), b + 64 * j);
#pragma GCC unroll 8
      for (int i = 0; i < kM; ++i) {
        const __m512i x = _mm512_set1_epi32(reinterpret_cast<const int32_t*>(a)[i]);
#pragma GCC unroll 2
        for (int j = 0; j < kN; ++j) c[i][j] = Product::Add(x, y[j], c[i][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kM; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kN; ++j)
      _mm512_mask_storeu_ps(reinterpret_cast<float*>(out + i * out_stride) + 16 * j, lanes(j),
                            c[i][j]);
}

template <typename Product>
void DotInBlocks(float* out, int64_t out_stride, const DotPart* parts, int64_t count, int64_t m,
                 int64_t n, bool accumulate) {
  for (int64_t column = 0; column < n; column += kDotColumns) {
    const int64_t left = n - column;
    char* o = reinterpret_cast<char*>(out + column);
    const auto rows = [&]<int kN>() {
      const int64_t lanes = left - (kN - 1) * 16;
      const auto last = lanes >= 16 ? __mmask16(0xffff) : __mmask16((1u << lanes) - 1u);
      int64_t row = 0;
      const auto take = [&]<int kM>() {
        for (; row + kM <= m; row += kM)
          BlockTile<Product, kM, kN>(o + row * out_stride, out_stride, parts, count, row, column,
                                     last, accumulate);
      };
      take.template operator()<8>();
      take.template operator()<4>();
      take.template operator()<2>();
      take.template operator()<1>();
    };
    if (left > 16) {
      rows.template operator()<2>();
    } else {
      rows.template operator()<1>();
    }
  }
}
