// Which bytes on chip are still to be read: whether a write has any reader after its group.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/chip_areas.h"

namespace neuron::emulator {

struct Step;

// The usual analysis backwards along the control flow: what an instruction overwrites whole is dead
// before it, what it reads is alive. SBUF and PSUM are dead when a program ends; at a meeting with
// the other core all is alive. Registers count with all the values they may have.
class Liveness {
 public:
  Liveness(const isa::Program& program, const std::vector<Step>& steps);

  // What instructions from `at` on, in the order of execution, may read.
  ChipAreas AliveAt(uint32_t at) const;
  // Whether an instruction from `at` on, in the order of execution, may read bytes of `tile`.
  bool ReadFrom(uint32_t at, const TileRef& tile) const;

 private:
  // Steps [first, last) backwards from what is alive behind them, to what is alive before.
  ChipAreas Walk(uint32_t first, uint32_t last, ChipAreas alive, bool record);
  void Before(const Step& step, ChipAreas* alive) const;

  const isa::Program& program_;
  const std::vector<Step>& steps_;
  std::unordered_map<uint32_t, ChipAreas> alive_;  // before some instructions, all control flow
};

}  // namespace neuron::emulator
