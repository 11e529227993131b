// What other files of the ABI do with a model.
#pragma once

#include "emulator/abi/objects.h"

namespace neuron::emulator::abi {

Outcome RequireModel(const nrt_model_t* model);
Outcome CoreOfModel(const nrt_model_t* model, int* vnc);
Outcome ExecuteModel(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                     nrt_tensor_set_t* output_set);

}  // namespace neuron::emulator::abi
