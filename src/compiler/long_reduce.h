// Reductions whose row does not fit beside a loop kernel's other tiles: chunks of 4096 elements are
// reduced one by one, then the row of their results.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

Status EmitLongReduce(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
