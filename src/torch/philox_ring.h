// The random state that one launch reads: u64[2] {seed, offset} in device memory.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace neuron::pytorch {

// Draws `counters` 128-bit counters from `given` or the device's default generator and sends seed
// and offset to the device, ordered with its current stream.
at::Tensor PhiloxArgument(const std::optional<at::Generator>& given, int device, uint64_t counters);

}  // namespace neuron::pytorch
