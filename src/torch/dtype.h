// PyTorch's element types and ours.
#pragma once

#include <c10/core/ScalarType.h>

#include "base/dtype.h"

namespace neuron::pytorch {

DType ToDType(c10::ScalarType type);        // kInvalid: quantised and other unsupported ones
c10::ScalarType ToScalarType(DType dtype);  // Undefined for types PyTorch does not have

}  // namespace neuron::pytorch
