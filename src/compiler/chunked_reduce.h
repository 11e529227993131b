// Reductions of rows that are longer than a loop kernel holds: a row's chunks are rows, and their
// results a row of their own. The same order of operations (reduction.h), and what computes the
// elements need not store them.
#pragma once

#include "compiler/canonical_builder.h"

namespace neuron::compiler {

// Whether the row that `x` reduces, of an operand of `shape`, is long and has nothing but whole
// chunks that lie side by side. Others are a kernel of their own (long_reduce.h).
bool HasWholeChunks(const hlo::Instruction& x, const hlo::Shape& shape,
                    const hlo::Instruction& init);
hlo::Instruction* ReduceByChunks(CanonicalBuilder& b, const hlo::Instruction& x,
                                 hlo::Instruction* operand, hlo::Instruction* init);

}  // namespace neuron::compiler
