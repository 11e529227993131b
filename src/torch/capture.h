// Graph capture (torch.accelerator.Graph): device work of a thread is written down instead of run,
// and run again at each replay with the same addresses.
//
// Memory allocated while capturing belongs to the graph: it is neither reused inside nor given back
// before reset(). Random ops draw anew at every replay.
#pragma once

#include <c10/core/Allocator.h>

#include <functional>

#include "runtime/runtime.h"

namespace neuron::pytorch {

void RegisterGraphs();  // after the device is renamed

// Enqueues, or records if this thread is capturing.
void Submit(int device, runtime::StreamId stream, runtime::Launch launch);

using Step = std::function<void(runtime::StreamId stream)>;

bool IsCapturing();
// Runs `step` now, or records it if this thread is capturing.
void RunOrRecord(runtime::StreamId stream, Step step);
// Throws while this thread is capturing: `what` needs results or the host.
void RefuseInCapture(const char* what);
// Device memory that lives until the capture is reset. Requires IsCapturing().
c10::DataPtr KeepForCapture(c10::DataPtr memory);

}  // namespace neuron::pytorch
