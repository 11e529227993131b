// One instruction in its simplest form: no-ops are their operands, constants are folded, and what
// has a cheaper equal is that.
#pragma once

#include <vector>

#include "compiler/canonical_builder.h"

namespace neuron::compiler {

// What computes the array `x` from `operands`, which stand for its own; an instruction of `b`, or
// one of the operands. `relaxed`: the sign of a zero and the order of additions may change.
hlo::Instruction* Simplify(CanonicalBuilder& b, const hlo::Instruction& x,
                           const std::vector<hlo::Instruction*>& operands, bool relaxed);

}  // namespace neuron::compiler
