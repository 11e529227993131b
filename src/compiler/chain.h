// Chains: kernels whose values pass from one to the next on chip.
//
// A block of rows of a dot's result, all columns of it, stays in SBUF while loop kernels with
// reductions along the columns work on it and further dots take it up. So attention is one chain
// (scores and probabilities never reach HBM), forward and backward, whatever is computed between
// its products; and so is a dot with a softmax or a normalisation of its rows.
//
// Every reduction sees a whole row: results are the same bits as without chains. Columns that a
// causal mask hides are not computed (live_columns.h).
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// Makes chains of the plan's kernels. A chain stands where its last stage stood; the other places
// stay empty.
void FormChains(const CanonicalModule& canonical, Plan& plan);

Status EmitChain(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
