// Reductions along the free axes of a tile, in the contract's order: chunks of 4096 elements, 16
// lanes and a fixed tree in each, chunk results reduced the same way.
#pragma once

#include <optional>

#include "compiler/emitter.h"

namespace neuron::compiler {

inline constexpr int64_t kReductionChunk = 4096;

// The operator of a reduce (or reduce-window, ...) whose combiner is one binary instruction on its
// two parameters; nullopt for other combiners and for wide dtypes.
std::optional<isa::AluOp> ReductionAlu(const hlo::Instruction& reduce);
bool IsIdentity(isa::AluOp op, DType dtype, double value);

// dst[...] = reduction of the innermost `axes` free dims of data.
Status EmitRowReduce(EmitContext& ctx, const hlo::Instruction& reduce, const AccessPattern& dst,
                     const AccessPattern& data, int axes);

}  // namespace neuron::compiler
