// neuronx-cc's --auto-cast: fp32 work done in a narrower format.
//
// kMatmult: operands of dots and convolutions are rounded to the format; sums stay fp32. kAll: fp32
// arithmetic and reductions too are done in it, and what goes from one to the next stays in it;
// fp8 has no arithmetic, of which matmults alone are cast. TF32 is fp32 with ten bits of mantissa.
#pragma once

#include <optional>

#include "compiler/compiler.h"

namespace neuron::compiler {

std::optional<hlo::Module> AutoCastModule(const hlo::Module& module, const Options& options);

}  // namespace neuron::compiler
