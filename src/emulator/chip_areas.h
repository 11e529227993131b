// Sets of bytes on chip: rectangles of partitions and bytes of each, in SBUF and in PSUM.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/region.h"

namespace neuron::emulator {

// A plain value. The rectangles of a set may overlap; there are as many as tiles are held at once.
class ChipAreas {
 public:
  void Add(const Region& region);
  void Add(const ChipAreas& other);
  void AddAll();  // every byte of both memories
  void Remove(const Region& region);
  bool Touches(const Region& region) const;

 private:
  std::vector<Region> regions_;
};

}  // namespace neuron::emulator
