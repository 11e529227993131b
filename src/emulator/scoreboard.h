// How long the chip would take: see scoreboard.cpp.
#pragma once

#include <cstdint>

#include "isa/program.h"

namespace neuron::emulator {

class Scoreboard {
 public:
  explicit Scoreboard(const isa::Program& program) : program_(program) {}
  // Modelled duration of one cold execution alone, with the registers that the program is given.
  int64_t DurationPs(const int64_t* registers);

 private:
  const isa::Program& program_;
};

}  // namespace neuron::emulator
