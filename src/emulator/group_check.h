// Instruction groups against instruction by instruction, for TORCHNEURON_CHECK_GROUPS: programs run
// twice from the same memories, and what then differs is an error.
//
// Compared are the bytes of every HBM tensor that the programs write, the engines' accumulators and
// random generators, the counters, the modelled time, and the message of a failure. SBUF and PSUM
// are put back between the runs, but not compared: groups leave out what nothing reads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "emulator/program.h"

namespace neuron::emulator {

struct CheckedRun {
  std::span<const std::unique_ptr<LoadedProgram>> programs;  // of one logical core
  std::function<Status(Counters*)> execute;                  // all of them
  std::function<int64_t()> duration_ps;                      // of the last execution
};

// Executes `singly`, then `grouped`, the same programs with groups, both with bound[program].
// Internal if they differ; counters and virtual clock have one execution more, memories are as
// groups left them.
Status CheckGroups(std::span<std::vector<BoundTensor>> bound, const CheckedRun& singly,
                   const CheckedRun& grouped, Counters* counters);

}  // namespace neuron::emulator
