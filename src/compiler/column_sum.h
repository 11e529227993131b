// Sums over leading dimensions: by reduction, the operand would have to be transposed so that
// columns become rows. The Tensor engine sums over partitions as they are: a dot with ones.
#pragma once

#include "compiler/canonical_builder.h"

namespace neuron::compiler {

// Whether the reduction `x`, from `init`, is such a sum and large enough. The order of additions is
// then another one.
bool IsColumnSum(const hlo::Instruction& x, const hlo::Instruction& init);
// The dot for it, of what x's operand has become.
hlo::Instruction* ColumnSum(CanonicalBuilder& b, const hlo::Instruction& x,
                            hlo::Instruction* operand);

}  // namespace neuron::compiler
