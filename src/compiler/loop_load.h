// What a loop body reads gets a tile on chip: inputs by DMA, iotas by the engines.
#pragma once

#include "compiler/loop_members.h"

namespace neuron::compiler {

// Fills load.held: the elements of `spec`, along the free axes on which the value varies.
Status LoadTile(EmitContext& ctx, LoopLoad& load, const TileSpec& spec);

}  // namespace neuron::compiler
