// MX tensors: groups of 8 rows by 4 packed values with one scale, as quantize_mx writes and
// nc_matmul_mx reads them.
#pragma once

#include <cstdint>

#include "emulator/tile.h"

namespace neuron::emulator {

// The row of the scale tile that holds the scale of data row `row`.
inline int64_t MxScaleRow(int64_t row) { return row / 32 * 32 + row % 32 / 8; }

inline constexpr int kMxNaN = 255;  // the scale byte

// 2^(byte - 127); NaN for 255.
float MxScale(uint8_t byte);

// Packed dtypes: what one of the four is, and the largest exponent of its format.
DType MxElement(DType packed);
int MxMaxExponent(DType packed);

// Value `lane` (0 to 3) of a packed element, its bits in the low end of `bits`.
float MxValue(DType packed, uint32_t bits, int lane);

}  // namespace neuron::emulator
