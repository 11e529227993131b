// Sparse tensors: the device has no kernels for them, and nothing falls back. A sparse tensor's
// parts (indices, values) may be neuron tensors; arithmetic on it belongs to the CPU, and the user
// says when.
#pragma once

#include <string>

namespace neuron::pytorch {

// Throws NotImplementedError that says what to do instead.
[[noreturn]] void RefuseSparse(const std::string& op);

}  // namespace neuron::pytorch
