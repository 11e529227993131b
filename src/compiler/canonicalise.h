// The first pass: the module rewritten so that later ones see few forms.
//
// Calls are inlined, tuples inside the entry are gone, equal instructions are one, dead ones are
// none, no-op reshapes, transposes and converts vanish, iota has one dimension (others broadcast
// it), a reduction of nothing is its initial value. Every result is computed by an instruction of
// its own (a copy where it was a parameter, a constant, a view or another result); the root is the
// tuple of them, or the single one. Dead instructions may remain. Chains that are one activation of
// the Scalar engine are custom calls (recognise.h).
//
// Views at the end of a result (a transpose, the strided update of a flat parameter, see
// lowering/strided.h) become the place where the value under them is stored.
//
// The result's instructions refer to computations (combiners, loop bodies) of `module`, which must
// outlive it. Parameters keep their numbers, and are all there.
#pragma once

#include <unordered_map>

#include "compiler/views.h"
#include "hlo/module.h"

namespace neuron::compiler {

struct CanonicalModule {
  hlo::Module module;
  // Results that are not stored densely: the view of the buffer they fill. base: the aliased
  // parameter, or the result itself if it has a buffer of its own.
  std::unordered_map<const hlo::Instruction*, View> stores;
  std::vector<Dims> strides = {};  // of parameters that are not dense, by number; else empty
  int64_t extent_bound = 0;        // of the run-time extent, 0 if there is none
};
// `relaxed`: the sign of a zero may be lost.
StatusOr<CanonicalModule> Canonicalise(const hlo::Module& module, bool relaxed);

}  // namespace neuron::compiler
