// Which bytes on chip are read by whom: whether a write has any reader outside its group.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/region.h"

namespace neuron::emulator {

struct Step;

// SBUF and PSUM are dead when a program ends. Inside, a read is covered if an earlier instruction
// of the same straight line of code writes exactly that tile; all other reads may see any write.
class Liveness {
 public:
  Liveness(const isa::Program& program, const std::vector<Step>& steps);

  // Whether an instruction outside [first, last) may read what those instructions wrote to `tile`.
  bool ReadElsewhere(const TileRef& tile, uint32_t first, uint32_t last) const;

 private:
  struct Read {
    Region region;
    uint32_t instruction = 0, line_end = 0;
    bool exposed = false;
  };
  const isa::Program& program_;
  std::vector<Read> reads_;
  std::vector<uint32_t> line_end_;  // by instruction: where its straight line of code ends
};

}  // namespace neuron::emulator
