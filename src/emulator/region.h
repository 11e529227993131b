// Where on chip a tile may lie: for telling whether two tiles can touch the same bytes.
#pragma once

#include <cstdint>

#include "emulator/operation.h"

namespace neuron::emulator {

// Partitions and bytes of each, half open, over all values that the registers may have.
struct Region {
  isa::Memory memory{};
  int64_t first_partition = 0, last_partition = 0;
  int64_t begin = 0, end = 0;

  bool operator==(const Region&) const = default;
  static Region Of(const isa::Program& program, const TileRef& tile);  // of a tile on chip
  bool Overlaps(const Region& other) const {
    return memory == other.memory && first_partition < other.last_partition &&
           other.first_partition < last_partition && begin < other.end && other.begin < end;
  }
};

// Of a tile as its instruction has it: not flattened, not split into rows.
Region PatternRegion(const isa::Program& program, const TileRef& tile);

// The same elements at the same addresses in the same order, whatever the registers hold.
bool SameWalk(const TileRef& a, const TileRef& b);

// Whether two tiles of one program share no byte while registers keep their values. Tiles of
// different HBM tensors are called disjoint here: what they are bound to is known at run time only.
bool Disjoint(const isa::Program& program, const TileRef& a, const TileRef& b);

}  // namespace neuron::emulator
