// activation and activation_reduce: op(data * scale + bias), optionally reduced along the row.
#pragma once

#include "emulator/row_program.h"

namespace neuron::emulator {

Status DecodeActivation(const DecodeInput& input, isa::ReduceCmd command, Operation* op);

}  // namespace neuron::emulator
