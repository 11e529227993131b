// The host code that instructions run on, one table per SIMD target.
//
// Every table computes the same bits, except `matmul_*` and `dot_*` (a dot product's rounding
// follows the target). All kernels work on dense rows; `dst` may equal an operand, but must not
// overlap it otherwise. Values are fp32 or 32-bit integers; conversion to and from narrower types
// happens at loads and stores.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"
#include "isa/operators.h"

namespace neuron::emulator {

enum class Simd : uint8_t { kPortable, kAvx2, kAvx512, kAvx512Bf16 };
inline constexpr int kNumSimd = 4;
std::string_view SimdName(Simd simd);

// How an operator's operands arrive: rows, or one value for the whole row.
enum class OperandForm : uint8_t { kRowRow, kRowValue, kValueRow };

// What values of a row are: fp32, or 32-bit integers (two's complement or unsigned).
enum class Domain : uint8_t { kFloat, kSigned, kUnsigned };
inline constexpr int kNumDomains = 3;

using UnaryKernel = void (*)(void* dst, const void* a, int64_t n);
using BinaryKernel = void (*)(void* dst, const void* a, const void* b, int64_t n);
using ConvertKernel = void (*)(void* dst, const void* src, int64_t n);
// lanes[l] = lanes[l] op x[i] for every i with i % 16 == l.
using ReduceKernel = void (*)(void* lanes, const void* x, int64_t n);
// results[r] = the whole of row r, for dense rows of up to 4096 elements `row_bytes` apart, from
// the operator's identity and in the one order (reduction.h).
using ReduceRowsKernel = void (*)(uint32_t* results, const void* rows, int64_t row_bytes,
                                  int64_t num_rows, int64_t n);
// dst[i] = predicate[i] != 0 ? a[i] : dst-or-b[i].
using SelectKernel = void (*)(void* dst, const uint32_t* predicate, const void* a, const void* b,
                              int64_t n);
// out[m][n] (+)= sum over k of stationary[k][m] * moving[k][n]; strides in bytes, rows dense.
using MatmulKernel = void (*)(float* out, int64_t out_stride, const void* stationary,
                              int64_t stationary_stride, const void* moving, int64_t moving_stride,
                              int64_t k, int64_t m, int64_t n, bool accumulate, void* scratch);
// A dot in pieces: out[m][n] (+)= sum over pieces, one after the other, and over k of
// stationary[k][m] * moving[k][n]. Bytes everywhere.
struct DotPieces {
  const char* const* stationary = nullptr;  // the first element of each piece
  const char* const* moving = nullptr;
  int64_t count = 0;
  int64_t k = 0, m = 0, n = 0;
  int64_t stationary_k = 0, stationary_m = 0, moving_k = 0;  // steps
  // Where columns 4 q to 4 q + 3 begin, side by side; kDotColumnsAhead entries more than n / 4. The
  // last vector is read whole, also beyond n.
  const int32_t* columns = nullptr;
  int run = 0;  // columns that lie side by side, from each multiple of it on: 4, 8 or 16
};
inline constexpr int64_t kDotColumnsAhead = 4;
using MatmulPiecesKernel = void (*)(float* out, int64_t out_stride, const DotPieces& dot,
                                    bool accumulate);
// Operands of a dot in blocks: of so many rows of the result (stationary) or columns (moving).
// Where a block's rows of K lie side by side, a dot reads memory in the order in which it lies.
inline constexpr int64_t kDotRows = 16, kDotColumns = 32;
struct DotOperand {
  const char* data = nullptr;
  int64_t block = 0;      // bytes from a block to the next
  int64_t step = 0;       // bytes from a word to that of the next k
  int64_t whole = 0;      // from this block on ...
  int64_t last_step = 0;  // ... this is the step: a block of fewer columns

  int64_t StepOf(int64_t at) const { return at < whole ? step : last_step; }
};
// A stretch of K. A word is one fp32, or a pair along K of bf16.
struct DotPart {
  DotOperand stationary, moving;
  int64_t steps = 0;  // words
};
// out[m][n] (+)= the sum over the parts, one after the other, and over their words in order.
using DotKernel = void (*)(float* out, int64_t out_stride, const DotPart* parts, int64_t count,
                           int64_t m, int64_t n, bool accumulate);
// dst[p][i] = the pair (src[2 p][i], src[2 p + 1][i]) of 16-bit elements; beyond `rows` zero.
using PairKernel = void (*)(void* dst, int64_t dst_stride, const void* src, int64_t src_stride,
                            int64_t rows, int64_t n);
// dst[c][r] = src[r][c]; strides in bytes.
using TransposeKernel = void (*)(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                                 int64_t rows, int64_t cols);
// dst[o][i] = src[o][i] with any strides, in bytes; an element may be its own source.
struct GridShape {
  int64_t outer, dst_outer, src_outer;
  int64_t inner, dst_inner, src_inner;
};
using GridKernel = void (*)(const GridShape& shape, char* dst, const char* src);
// Copies bytes around the caches where the target can; dst 4-byte aligned.
using StreamKernel = void (*)(void* dst, const void* src, int64_t bytes);

inline constexpr int kNumAluOps = static_cast<int>(isa::AluOp::kPopulationCount) + 1;
inline constexpr int kNumActivations = static_cast<int>(isa::ActivationFunction::kBesselI1e) + 1;
inline constexpr int kNumDTypes = 36;
inline constexpr int kReduceLanes = 16;
inline constexpr int64_t kMatmulScratchBytes = 1 << 20;

struct KernelTable {
  BinaryKernel binary[kNumDomains][kNumAluOps][3] = {};  // [..][OperandForm]
  UnaryKernel unary[kNumDomains][kNumAluOps] = {};
  UnaryKernel activation[kNumActivations] = {};
  ReduceKernel reduce[kNumDomains][kNumAluOps] = {};
  ReduceRowsKernel reduce_rows[kNumAluOps] = {};       // fp32; null: lane by lane with `reduce`
  ReduceRowsKernel reduce_bf16_rows[kNumAluOps] = {};  // to fp32; null: converted first
  // Between a dtype and rows of a domain. Null where there is no such conversion.
  ConvertKernel load[kNumDomains][kNumDTypes] = {};
  ConvertKernel store[kNumDomains][kNumDTypes] = {};
  SelectKernel select = nullptr;
  MatmulKernel matmul_f32 = nullptr;
  MatmulPiecesKernel matmul_pieces = nullptr;  // fp32, the same bits as matmul_f32
  DotKernel dot_f32 = nullptr;                 // the same bits; null if blocks gain nothing
  DotKernel dot_bf16 = nullptr;                // null if the target has no such dot ...
  PairKernel pair_rows = nullptr;              // ... and then this, too
  TransposeKernel transpose[17] = {};          // by element bytes: 1, 2, 4, 8, 16
  GridKernel grid[17] = {};
  StreamKernel stream = nullptr;
};

// The table in use: the best of the host, or what TORCHNEURON_SIMD names.
const KernelTable& Kernels();
Simd ActiveSimd();
// nullptr if the host cannot run that target.
const KernelTable* KernelsOf(Simd simd);

}  // namespace neuron::emulator
