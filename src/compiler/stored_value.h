// Views at the end of a result: the value under them is stored in the place that they give it.
#pragma once

#include "compiler/views.h"

namespace neuron::compiler {

// The value whose elements a result consists of, and where each belongs: views that lose no
// element are followed down, and an update of the aliased parameter in place.
// `place` is the result's own, and becomes the value's. `aliased`: the parameter that the result
// is aliased to, or nullptr.
hlo::Instruction* StoredValue(hlo::Instruction* x, const hlo::Instruction* aliased, View& place);

}  // namespace neuron::compiler
