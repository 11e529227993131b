#include "emulator/scoreboard.h"

#include "isa/timing.h"

namespace neuron::emulator {

int64_t Scoreboard::DurationPs(const int64_t*) {
  double ns = 0;
  for (const isa::Instruction& instruction : program_.instructions)
    ns += isa::StaticBusyNs(instruction, program_.target);
  return static_cast<int64_t>(ns * 1000);
}

}  // namespace neuron::emulator
