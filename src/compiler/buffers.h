// Where values live in HBM: the program's arguments, results and one scratch tensor whose bytes are
// reused as soon as the last reader of a value is done.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// A result that was computed beside its place because the parameter it is aliased to is still read
// afterwards; copied when every kernel has run.
struct LateCopy {
  const hlo::Instruction* value = nullptr;
  View to;
};

// Declares the program's tensors and registers, fills `signature` and sets the buffer of every
// parameter, scalar and kernel result of the plan.
Status AssignBuffers(const CanonicalModule& canonical, EmitContext& ctx, Signature& signature,
                     std::vector<LateCopy>& late_copies);

}  // namespace neuron::compiler
