// Instructions as steps of the executor: control flow here, everything else by its semantics.
#pragma once

#include "emulator/decoder.h"
#include "emulator/program.h"

namespace neuron::emulator {

StatusOr<Step> DecodeStep(const isa::Program& program, Core& core, uint32_t index);

}  // namespace neuron::emulator
