// Loops whose iterations host threads share.
//
// An iteration of a tiled loop loads its tiles, computes and stores them. Where it takes nothing
// from the iteration before and leaves nothing on chip that is read behind the loop, and where the
// bindings show that no iteration touches in HBM what another one writes, iterations run at the
// same time: a worker thread gets memories of its own for the tiles that the body writes, what was
// loaded before the loop is read where it lies. Same bits, counters and modelled time. Where an
// iteration would fail, the loop is walked.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "emulator/group_loop.h"
#include "emulator/liveness.h"

namespace neuron::emulator {

struct SharedLoop {
  uint32_t begin = 0, end = 0;      // loop_begin and loop_end
  uint32_t body_end = 0;            // of the first copy of the body ...
  int copies = 1;                   // ... of so many (unrolled.h); all that follows is about it
  std::vector<uint32_t> inner;      // loop_begins of the body, in program order
  std::vector<const TileRef*> hbm;  // tiles of the body
  double iteration_ns = 0;          // of one host thread, roughly
};

// Loops that may be shared as far as the program tells, none inside another; marks the tiles that
// are then a thread's own. Steps are decoded and grouped.
std::vector<std::unique_ptr<SharedLoop>> FindSharedLoops(
    const isa::Program& program, std::vector<Step>& steps,
    std::span<const std::unique_ptr<Group>> groups, const Liveness& liveness);

// Whether these bindings and registers let iterations run at the same time.
bool MayShare(const SharedLoop& loop, const std::vector<Step>& steps, const LoopRange& range,
              const Execution& execution);

}  // namespace neuron::emulator
