// Which bytes on chip are read by whom: whether a write has any reader outside its group.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/region.h"

namespace neuron::emulator {

struct Step;

// SBUF and PSUM are dead when a program ends. Inside, a read is covered if an earlier instruction
// of the same straight line of code writes exactly that tile; all other reads may see any write.
// Near linear in the program's length, to build and over all questions.
class Liveness {
 public:
  Liveness(const isa::Program& program, const std::vector<Step>& steps);

  // Whether an instruction outside [first, last) may read what those instructions wrote to `tile`.
  bool ReadElsewhere(const TileRef& tile, uint32_t first, uint32_t last) const;

 private:
  struct Read {
    Region region;
    uint32_t instruction = 0;
  };
  // Reads that touch a few KiB of every partition.
  struct Page {
    std::vector<Region> exposed;  // each region once
    std::vector<Read> all;        // in program order
  };
  // Calls visit(page) for the pages of a region until it returns true; whether it did.
  template <typename Pages, typename Visit>
  static bool AnyPage(Pages& pages, const Region& region, Visit visit);

  const isa::Program& program_;
  std::vector<Page> sbuf_, psum_;
  std::vector<uint32_t> line_end_;  // by instruction: where its straight line of code ends
};

}  // namespace neuron::emulator
