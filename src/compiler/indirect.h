// Gathers and scatters of whole slices along one dimension, by indirect DMA.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// What is not slices along one dimension goes to the general GpSimd kernels.
Status EmitGather(EmitContext& ctx, const Kernel& kernel);
Status EmitScatter(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
