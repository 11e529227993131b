// The indirect side of dma_copy and dma_compute: row p in HBM starts index[p] * index_step elements
// beyond where its pattern alone puts it.
#pragma once

#include "emulator/decoder.h"

namespace neuron::emulator {

struct Indirect {
  int index_tile = -1;  // position in Operation::tiles
  int hbm_tile = -1;
  int64_t step_bytes = 0;
  isa::Affine bound;
  bool skip = false;  // an index out of bounds skips its row instead of failing
  bool index_is_unsigned = false;

  static bool Present(const Operands& in) { return in.Has("index"); }
  // `dst` and `src` are the positions of those tiles; appends the index tile.
  static Indirect Decode(const DecodeInput& input, Operation* op, int dst, int src);

  // Byte offset to add to row `row` of the HBM tile. *skipped: leave the row out.
  Status RowOffset(const Operation& operation, const Execution& execution, const Tile* tiles,
                   int64_t row, int64_t* offset, bool* skipped) const;
};

}  // namespace neuron::emulator
