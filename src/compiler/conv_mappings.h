// The mappings of convolutions: each fills a tile of the result and hands it to the epilogue.
#pragma once

#include "compiler/conv_loops.h"

namespace neuron::compiler {

// Taps accumulate in PSUM: stationary is one tap [i, o], moving the image walked from that tap on.
Status EmitConvTaps(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p);
// Few input features: DMA gathers (i, tap) onto the partitions, one matmul contracts them all.
Status EmitConvIm2col(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p);
// One input feature per group: Vector, a channel per partition.
Status EmitConvDepthwise(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p);

// Free counts of a tile's value, in the order of its axes.
std::vector<Count> FreeCounts(const ConvTile& tile);
// PSUM to SBUF in the result's dtype, then the epilogue and the stores.
Status EvacuateConv(EmitContext& ctx, const Kernel& kernel, LoopBody& body, const ConvProblem& p,
                    const ConvTile& tile, const Tile& sum, TakingTurns& values);
// Address of an operand's element: start of group, outer (n or o) and spatial index.
Affine ConvAddress(const ConvOperand& operand, const Affine& group, const Affine& outer,
                   int64_t inner, const std::vector<Affine>& spatial);

}  // namespace neuron::compiler
