// Refusals that depend on the value of a number, where PyTorch's meta kernels make none.
//
// CPU makes these checks in its kernels. A plan serves every value of a run-time scalar, so they
// have to come before it, at each call.
#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string_view>

namespace neuron::pytorch {

// Throws what CPU throws.
using ValueCheck = void (*)(std::span<const c10::IValue> arguments);

ValueCheck FindValueCheck(std::string_view overload);  // nullptr: none is needed

}  // namespace neuron::pytorch
