// Elementwise members on 64-bit and complex numbers as one GpSimd kernel (wide_elementwise), from
// HBM to HBM.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

Status EmitWideKernel(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
