// Dot products on the Tensor engine.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// kernel.hero is a dot; the other members are its epilogue.
Status EmitDot(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
