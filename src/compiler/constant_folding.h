// Instructions whose operands are known numbers.
#pragma once

#include <optional>
#include <vector>

#include "compiler/canonical_builder.h"

namespace neuron::compiler {

// What a select chooses everywhere, if that is known.
std::optional<bool> KnownPredicate(const hlo::Instruction& predicate);
// The constant that the conversion `x` makes of one number; nullptr if rounding or the range would
// need the engines' rules.
hlo::Instruction* FoldConvert(CanonicalBuilder& b, const hlo::Instruction& x,
                              const hlo::Instruction& constant);
// The slice that a dynamic slice is if all its starts are constants, else nullptr.
hlo::Instruction* StaticSlice(CanonicalBuilder& b, const hlo::Instruction& x,
                              const std::vector<hlo::Instruction*>& operands);

}  // namespace neuron::compiler
