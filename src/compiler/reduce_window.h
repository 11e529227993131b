// reduce-window on Vector: each position of the window is a strided view of the image's tile.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// The general GpSimd kernel takes what this does not: several values, wide numbers, other
// combiners.
Status EmitReduceWindow(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
