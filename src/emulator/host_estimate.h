// What an instruction takes on one host thread, roughly: for deciding what threads share.
#pragma once

#include "emulator/operation.h"

namespace neuron::emulator {

double HostNs(const Operation& op);  // at maximal counts

}  // namespace neuron::emulator
