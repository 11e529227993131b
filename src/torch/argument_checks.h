// Refusals that depend on shapes and dtypes alone and that PyTorch's meta kernels do not make, or
// make with another exception class than CPU: run once per plan, before the meta kernel.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <span>

#include "torch/op_entry.h"

namespace neuron::pytorch {

// Throws what CPU throws. `tensors`: those of the call on the device.
void CheckArguments(const OpEntry& entry, std::span<const c10::IValue> arguments,
                    std::span<const at::Tensor* const> tensors);

}  // namespace neuron::pytorch
