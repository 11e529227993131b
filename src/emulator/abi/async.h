// The asynchronous calls' side of nrt_init and nrt_close.
#pragma once

namespace neuron::emulator::abi {

// Ends all execution units: what runs ends, what waits is completed with NRT_CLOSED.
void CloseAsync();

// NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS is set, which has no effect any more.
void WarnOfImplicitAsync();

}  // namespace neuron::emulator::abi
