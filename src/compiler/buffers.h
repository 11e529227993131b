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

// Where the caller of a computation has its arguments and wants its results (those that are aliased
// to a parameter lie there).
struct Binding {
  std::vector<Buffer> parameters, results;
};

// Sets the buffer of every parameter, scalar and kernel result of the plan. The program's own
// arguments are declared as tensors and registers and listed in `signature`.
Status AssignBuffers(const CanonicalModule& canonical, EmitContext& ctx, Signature& signature,
                     std::vector<LateCopy>& late_copies);
// Those of a computation that the program calls are bound.
Status AssignBuffers(const CanonicalModule& canonical, EmitContext& ctx, const Binding& binding,
                     std::vector<LateCopy>& late_copies);

}  // namespace neuron::compiler
