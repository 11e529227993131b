// Which columns of a chain's body matter in a row: those that a causal mask hides need not be
// computed.
#pragma once

#include <optional>

#include "compiler/chain_problem.h"

namespace neuron::compiler {

// d such that in row r the columns beyond r + d are dead: whatever the chain hands on is zero there
// and its reductions take no part of them, since a comparison of the indices decides so. nullopt:
// all columns may matter. A dead element counts as zero even where the decomposition would multiply
// it by a value that is not finite.
std::optional<int64_t> LiveDiagonal(const Plan& plan, const ChainProblem& problem);

}  // namespace neuron::compiler
