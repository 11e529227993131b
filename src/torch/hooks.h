// PyTorch's callbacks into the backend (at::PrivateUse1HooksInterface).
#pragma once

namespace neuron::pytorch {

void RegisterHooks();  // once, after the device is renamed

}  // namespace neuron::pytorch
