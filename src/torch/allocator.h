// Device memory as c10 sees it (torch.accelerator.memory_* reads it) and pinned host memory.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include "runtime/runtime.h"

namespace neuron::pytorch {

c10::DeviceAllocator* DeviceAllocator();
// `bytes` on `device`, ordered with its current stream. 0 bytes: no memory.
c10::DataPtr AllocateOn(int device, size_t bytes);

c10::Allocator* PinnedAllocator();
bool IsPinned(const void* pointer);
// A copy that returned early still reads or writes `pointer`: it is not freed before the copy is
// done. No-op if `pointer` is not pinned.
void RecordPinnedUse(const void* pointer, int device, runtime::StreamId stream);

}  // namespace neuron::pytorch
