// nrt_profile_*: which model is being profiled.
#pragma once

#include "nrt/nrt_abi.h"

namespace neuron::emulator::abi {

// The model is unloaded: its profile, if one was started, ends without a file.
void ForgetProfile(const nrt_model_t* model);

}  // namespace neuron::emulator::abi
