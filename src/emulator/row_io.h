// Rows of a tile as dense fp32 or 32-bit integers, for instructions that are no row programs.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/kernels/kernels.h"
#include "emulator/tile.h"

namespace neuron::emulator {

// Reads elements [first, first + n), n at most kRowIoMax, of the row at `row`. Returns dense
// values: the row itself where its bits are values already, else `out` (room for n values).
inline constexpr int64_t kRowIoMax = 4096;
const void* ReadRow(const KernelTable& kernels, Domain domain, const TileShape& shape,
                    const char* row, int64_t first, int64_t n, void* out);
void WriteRow(const KernelTable& kernels, Domain domain, const TileShape& shape, char* row,
              int64_t first, int64_t n, const void* values);

// A whole row, however long, as dense values in `buffer`, which it resizes; and back.
uint32_t* ReadWholeRow(const KernelTable& kernels, Domain domain, const Tile& tile, int64_t row,
                       std::vector<uint32_t>* buffer);
void WriteWholeRow(const KernelTable& kernels, Domain domain, const Tile& tile, int64_t row,
                   const uint32_t* values);

// The domain in which an instruction computes on tiles of this type by itself.
Domain DomainOf(DType dtype);

}  // namespace neuron::emulator
