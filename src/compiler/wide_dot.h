// Dots of 64-bit and complex numbers and of integers: the GpSimd kernel wide_dot.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// Writes the hero; a kernel with an epilogue is refused.
Status EmitWideDot(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
