// Copies between host and device, and on the device.
#pragma once

#include <ATen/core/Tensor.h>

namespace neuron::pytorch {

// Converts dtype, broadcasts nothing (sizes agree), any strides. `non_blocking` takes effect where
// the host side is pinned.
void Copy(const at::Tensor& to, const at::Tensor& from, bool non_blocking);

}  // namespace neuron::pytorch
