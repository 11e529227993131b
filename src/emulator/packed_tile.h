// Tiles of SBUF that a DMA fills and only matmuls read: they never need to lie in SBUF's order.
//
// The host's dots read operands in blocks (packing.h). Such a tile is packed by its DMA, once, into
// memory of its own beside SBUF, instead of by each matmul that reads it, and a transposing DMA
// moves pairs of bf16 as words. Same bits, counters and modelled time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "emulator/liveness.h"
#include "emulator/sum_loop.h"

namespace neuron::emulator {

struct Group;

// Finds the tiles whose every reader is known and packs them; steps are decoded and grouped.
// Matmuls of sum loops keep their operands where they lie.
void PackTiles(const isa::Program& program, const Core& core, std::vector<Step>& steps,
               std::span<const std::unique_ptr<Group>> groups,
               std::span<const std::unique_ptr<SumLoop>> sum_loops, const Liveness& liveness);

}  // namespace neuron::emulator
