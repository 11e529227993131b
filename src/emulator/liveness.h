// Which bytes on chip are read by whom: whether a write has any reader outside its group.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/region.h"

namespace neuron::emulator {

struct Step;

// SBUF and PSUM are dead when a program ends. Inside, a read is covered if an earlier instruction
// of the same straight line of code writes exactly that tile; all other reads may see any write.
// Conservative: granules of 64 bytes and of 32 partitions, and a bounded look ahead.
class Liveness {
 public:
  Liveness(const isa::Program& program, const std::vector<Step>& steps);

  // Whether an instruction outside [first, last) may read what those instructions wrote to `tile`.
  bool ReadElsewhere(const TileRef& tile, uint32_t first, uint32_t last) const;

 private:
  // Granules that a read touches without being covered.
  struct Exposed {
    int64_t granules = 0;  // of one quadrant
    std::vector<bool> bits;
    void Mark(const Region& region);
    bool Touches(const Region& region) const;
  };
  const Exposed& Of(const Region& region) const {
    return region.memory == isa::Memory::kPsum ? psum_ : sbuf_;
  }

  struct Access {
    const TileRef* tile;
    Region region;
    bool reads;
  };

  const isa::Program& program_;
  const std::vector<Step>& steps_;
  Exposed sbuf_, psum_;
  std::vector<Access> accesses_;  // on chip, in program order
  std::vector<uint32_t> first_;   // by instruction: its first access; one more at the end
};

}  // namespace neuron::emulator
