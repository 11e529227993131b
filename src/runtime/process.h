// The process's one machine: the NRT library and its devices; what fork and exit mean.
//
// A forked child has no worker threads and must not share device memory with its parent: once the
// runtime was initialised, every call in a child is refused. At exit the workers are stopped before
// the NRT library's own destructors run; nrt_close is left to the end of the process.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/device.h"

namespace neuron::runtime {

// OK while the runtime may be used; a sentence for a forked child and for a process at its end.
Status CheckProcess();
bool ProcessUsable();  // the same as a cheap test

// Initialises if needed.
StatusOr<Device*> GetDevice(int device);
// Null if not initialised, no such device, or the process is not usable.
Device* FindDevice(int device);
const std::vector<std::unique_ptr<Device>>& Devices();  // empty before Initialize

}  // namespace neuron::runtime
