// Instruction groups: consecutive instructions that walk the same rows, executed block by block.
//
// DMA in, Vector and Scalar work, reductions along the row, PSUM evacuation and DMA out of one tile
// become a single row program: a block of a row passes through all of them in registers and the
// first-level caches, and what they leave in SBUF is not written where nothing reads it again. Same
// bits, same checks, same modelled time as instruction by instruction
// (TORCHNEURON_INSTRUCTION_GROUPS=0).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/operation.h"
#include "emulator/row_steps.h"

namespace neuron::emulator {

class Liveness;
struct Step;

struct Group {
  uint32_t first = 0, last = 0;  // instructions [first, last)
  int copies = 1;                // of them follow each other in the loop's body (unrolled.h)
  std::vector<TileRef> tiles;
  RowProgram program;
  bool writes_on_chip = false;  // SBUF, PSUM or an accumulator
  // Pairs of HBM tiles, one of them written, that may be bound to the same memory.
  struct MayAlias {
    int16_t written, other;
    bool read_later;  // `other` is read after `written` was stored
  };
  std::vector<MayAlias> may_alias;
};

// Groups of a program whose steps are decoded. Instructions are in at most one group.
std::vector<std::unique_ptr<Group>> FindGroups(const isa::Program& program, const Core& core,
                                               const std::vector<Step>& steps,
                                               const Liveness& liveness);

// Runs a group. *done is false, and nothing has happened, if its bindings make blocks unlike
// instructions one by one, or if an instruction would fail: then they are to be executed singly.
void ExecuteGroup(const Group& group, const std::vector<Step>& steps, Execution& execution,
                  bool* done);

}  // namespace neuron::emulator
