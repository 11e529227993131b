// The first pass: the module rewritten so that later ones see few forms.
//
// Calls are inlined, tuples inside the entry are gone, equal instructions are one, dead ones are
// none, no-op reshapes, transposes and converts vanish, iota has one dimension (others broadcast
// it), a reduction of nothing is its initial value. Every result is computed by an instruction of
// its own (a copy where it was a parameter, a constant, a view or another result); the root is the
// tuple of them, or the single one.
//
// The result's instructions refer to computations (combiners, loop bodies) of `module`, which must
// outlive it. Parameters keep their numbers, and are all there.
#pragma once

#include "hlo/module.h"

namespace neuron::compiler {

StatusOr<hlo::Module> Canonicalise(const hlo::Module& module);

}  // namespace neuron::compiler
