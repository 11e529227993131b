// HloModuleProto (xla/service/hlo.proto): the input of neuronx-cc and of jaxlib.
//
// Written with dense small instruction ids (XLA indexes by them), parent computations after the
// ones they call. Read: ids are resolved per computation, in 64 bits, since JAX writes
// (computation << 32) | n.
#pragma once

#include <string>
#include <string_view>

#include "hlo/module.h"

namespace neuron::hlo {

std::string ToProto(const Module& module);
StatusOr<Module> FromProto(std::string_view bytes);

}  // namespace neuron::hlo
