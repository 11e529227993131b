// Values that are computed where they are going: the pieces of a concatenation, and what is only
// copied into another order of dimensions, are stored in the place that the copy would give them.
#pragma once

#include "compiler/kernel_plan.h"

namespace neuron::compiler {

// Fills plan.places and empties the kernels that have nothing left to do.
void PlacePieces(const CanonicalModule& canonical, Plan& plan);

}  // namespace neuron::compiler
