// Makes an instruction's results wrong, for tests of honesty (TORCHNEURON_PERTURB).
#pragma once

#include "emulator/operation.h"

namespace neuron::emulator {

Status PerturbResults(const Operation& operation, const Execution& execution);

}  // namespace neuron::emulator
