// Sum loops: loops around one matmul that add up a PSUM tile.
//
// The weight gradient of a convolution is a matmul per pixel, thousands of them with a few rows of
// K each, and every one adds to the same tile. One by one they would load and store the sums each
// time, and none is enough for a second thread. Here the loops' addresses are walked first; then
// each host thread takes columns, and keeps their sums in registers over many matmuls. The order of
// additions is the program's, so the bits are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/group_loop.h"
#include "emulator/operation.h"

namespace neuron::emulator {

struct Step;

struct SumLoop {
  std::vector<uint32_t> loops;  // the loop_begins, outermost first
  uint32_t matmul = 0;          // all that is inside the innermost one
};

// Of a program whose steps are decoded.
std::vector<std::unique_ptr<SumLoop>> FindSumLoops(const std::vector<Step>& steps);

// Runs the matmuls of all iterations; ranges are the loops', outermost first. Failures are those of
// the first matmul that fails; nothing is added then.
Status RunSumLoop(const SumLoop& loop, const std::vector<Step>& steps,
                  std::span<const LoopRange> ranges, Execution& execution);

}  // namespace neuron::emulator
