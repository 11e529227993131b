// The bytes of a tile, as runs of neighbours: for checks that look at every byte.
#pragma once

#include <cstdint>

#include "emulator/tile.h"

namespace neuron::emulator {

// Calls visit(byte offset from the row's first element, bytes) for each run of a row, in order.
template <typename Visit>
void ForEachRun(const TileShape& shape, Visit visit) {
  if (shape.elements == 0) return;
  if (shape.contiguous()) return visit(int64_t{0}, shape.elements * shape.element_bytes);
  const int last = shape.num_dims - 1;
  const bool dense = shape.stride[last] == shape.element_bytes;
  const int64_t inner = dense ? shape.count[last] * shape.element_bytes : shape.element_bytes;
  const int outer = dense ? last : last + 1;  // dimensions that are stepped through
  int64_t index[TileShape::kMaxDims] = {};
  int64_t offset = 0;
  while (true) {
    visit(offset, inner);
    int d = outer - 1;
    for (; d >= 0; --d) {
      offset += shape.stride[d];
      if (++index[d] < shape.count[d]) break;
      offset -= shape.count[d] * shape.stride[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace neuron::emulator
