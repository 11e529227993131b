// How programs for a device are compiled.
#pragma once

#include "compiler/compiler.h"

namespace neuron::pytorch {

// Target, cores and numerics of `device`; parameters are left to the caller.
compiler::Options CompilerOptions(int device);

}  // namespace neuron::pytorch
