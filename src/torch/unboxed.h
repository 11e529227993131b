// Calls without a stack, for overloads of tensors and numbers only.
//
// A boxed call holds every argument once more. Where the caller's is the only other reference, as
// in most of Python, PyTorch then takes the GIL to tell the Python object, and takes it again when
// the stack is dropped: about as long as a small program runs.
#pragma once

#include <torch/library.h>

#include <memory>
#include <optional>

#include "torch/kernel.h"

namespace neuron::pytorch {

// nullopt: this schema is called boxed.
std::optional<torch::CppFunction> MakeUnboxed(const std::shared_ptr<Kernel>& kernel);

}  // namespace neuron::pytorch
