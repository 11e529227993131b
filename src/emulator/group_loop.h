// Loops whose body is a single group: all rows of all iterations as one piece of work.
//
// The iterations of a tiled loop rarely depend on each other. Where the bindings show that they do
// not, host threads share the loop as a whole; one hand-over then pays for many tiles.
#pragma once

#include <span>

#include "emulator/group.h"

namespace neuron::emulator {

struct LoopRange {
  isa::Register counter = isa::kNoRegister;
  int64_t begin = 0, step = 1, trips = 0;

  // The iterations of one of `copies` that the body has (unrolled.h).
  LoopRange Rolled(int copies) const { return {counter, begin, step / copies, trips * copies}; }
};

// Whether the group, or copies of it, is the whole body of a loop and leaves nothing on chip that a
// later iteration would have to overwrite in order.
bool IsLoopBody(const Group& group, const std::vector<Step>& steps);

// Runs all iterations; `range` counts those of one copy. False, and nothing has happened, if one
// may touch what another one writes or if an instruction would fail: then the loop is to be walked.
bool RunGroupLoop(const Group& group, const std::vector<Step>& steps, const LoopRange& range,
                  std::span<const int64_t> registers, const Execution& execution);

}  // namespace neuron::emulator
