// A status that one execution is made to end with (TORCHNEURON_FAIL_EXECUTION): what hardware may
// answer and an emulator never would.
#pragma once

#include "emulator/abi/call.h"

namespace neuron::emulator::abi {

Status CheckFault();            // that the variable can be read
NRT_STATUS FaultOfExecution();  // of the next execution; counts it

}  // namespace neuron::emulator::abi
