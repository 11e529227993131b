// Tiles of SBUF that a DMA fills and only matmuls read: they never need to lie in SBUF's order.
//
// The host's dots read operands in blocks (packing.h). Such a tile is packed by its DMA, once, into
// memory of its own beside SBUF, instead of by each matmul that reads it, and a transposing DMA
// moves pairs of bf16 as words. Same bits, counters and modelled time.
//
// Of a tile whose elements are read once, by a dot's moving operand, the packing is late: the DMA
// notes where its source lies, and the dot packs block by block what it takes next. So a weight
// that one vector is multiplied with passes the caches once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "emulator/liveness.h"
#include "emulator/packing.h"
#include "emulator/sum_loop.h"

namespace neuron::emulator {

struct Group;

// How a DMA fills a packed tile.
struct TilePacking : Packing {
  int late = -1;                  // number of a late tile, by which Execution::late knows it
  std::vector<uint16_t> written;  // tensors that are written before the last reader has read
};

// What the DMA does: `source` is where element (0, 0) comes from, `packed` where the tile lies.
void FillPacked(const Operation& load, const TilePacking& packing, const char* source, char* packed,
                Execution& execution);

// Finds the tiles whose every reader is known and packs them; steps are decoded and grouped.
// Matmuls of sum loops keep their operands where they lie. Returns how many tiles are late.
int PackTiles(const isa::Program& program, const Core& core, std::vector<Step>& steps,
              std::span<const std::unique_ptr<Group>> groups,
              std::span<const std::unique_ptr<SumLoop>> sum_loops, const Liveness& liveness);

}  // namespace neuron::emulator
