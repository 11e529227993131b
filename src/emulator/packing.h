// The order in which the host's dots read a tile: blocks of its columns (kernels.h, DotOperand),
// and in a block one word after another along K, a word being an fp32 or a pair of bf16.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/kernels/kernels.h"
#include "emulator/strided_copy.h"

namespace neuron::emulator {

struct Packing {
  const KernelTable* kernels = nullptr;
  int64_t k = 0, columns = 0;   // partitions of the tile, elements of each
  int64_t block = kDotColumns;  // columns: kDotRows where the tile is a dot's stationary operand
  bool pairs = false;
  int64_t k_stride = 0, column_stride = 0;  // of the source, bytes

  int64_t steps() const { return pairs ? (k + 1) / 2 : k; }
  // Where the block lies that begins with `column`.
  int64_t OffsetOf(int64_t column) const { return column * steps() * 4; }
  // Columns from `column` on, which begins a block, of a tile that lies at `data`.
  DotOperand At(const char* data, int64_t column) const;
};

// The packing of a tile of [k, columns] that `plan` fills; nothing where its source is no matrix
// with dense rows or columns.
std::optional<Packing> PackingOf(const CopyPlan& plan, const TileShape& tile);

// Packs columns [first, last) of the tile whose element (0, 0) is at `source`; `first` begins a
// block, `packed` is where the tile lies.
void Pack(const Packing& packing, int64_t first, int64_t last, const char* source, char* packed);
// The whole of it, shared between host threads where it is long.
void Pack(const Packing& packing, const char* source, char* packed);

}  // namespace neuron::emulator
