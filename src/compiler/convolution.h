// Convolutions on the Tensor engine, and depthwise ones on Vector.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// kernel.hero is a convolution; the other members are its epilogue.
Status EmitConvolution(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
