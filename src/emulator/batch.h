// Batches: neighbouring instructions that host threads share as one piece of work.
//
// A round trip to another thread costs microseconds, about what one DMA of a tile takes: loads of
// several tiles, which do not depend on each other, are dealt out whole. The matmuls that add up
// one PSUM tile are cut by its columns, each thread computing its columns over all of K. No
// element's arithmetic changes; TORCHNEURON_INSTRUCTION_GROUPS=0 turns this off, too.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/operation.h"

namespace neuron::emulator {

struct Step;

struct Batch {
  uint32_t first = 0, last = 0;  // instructions [first, last)
  bool matmuls = false;          // else loads
  double estimated_ns = 0;       // of one host thread
};

// Batches of a program whose steps are decoded and grouped: instructions of groups are left out.
std::vector<std::unique_ptr<Batch>> FindBatches(const isa::Program& program,
                                                const std::vector<Step>& steps);
Status ExecuteBatch(const Batch& batch, const std::vector<Step>& steps, Execution& execution);

}  // namespace neuron::emulator
