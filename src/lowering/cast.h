// Conversion as Tensor.to does it on CPU.
#pragma once

#include "lowering/expr.h"

namespace neuron::lowering {

// Floats truncate to integers and wrap into narrow ones (HLO would saturate); pred is x != 0;
// complex to real takes the real part.
Expr Cast(Expr x, DType dtype);

}  // namespace neuron::lowering
