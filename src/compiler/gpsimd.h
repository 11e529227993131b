// Calls of GpSimd kernels: tiles, then the kernel's packed parameters.
#pragma once

#include <string>
#include <vector>

#include "compiler/emitter.h"
#include "isa/kernel_parameters.h"

namespace neuron::compiler {

template <typename Parameters>
void EmitGpSimd(EmitContext& ctx, std::string name, int64_t num_outputs,
                std::vector<AccessPattern> tiles, const Parameters& parameters) {
  std::vector<isa::Operand> arguments(tiles.begin(), tiles.end());
  for (const int64_t value : isa::Pack(parameters)) arguments.emplace_back(value);
  ctx.GpSimdKernel(std::move(name), num_outputs, std::move(arguments));
}

}  // namespace neuron::compiler
