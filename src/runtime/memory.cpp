// The memory part of runtime.h. Freeing in a forked or ending process does nothing.
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/segment.h"

namespace neuron::runtime {

StatusOr<void*> Allocate(int device, int64_t bytes, StreamId stream) {
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  return found->allocator().Allocate(bytes, stream);
}

void Free(void* pointer) {
  Device* device = FindDevice(DeviceOf(pointer));
  if (device == nullptr) return;
  const bool freed = device->allocator().Free(pointer);
  NEURON_CHECK(freed, "Free of ", pointer,
               ", which is no block in use of neuron:", device->index());
}

void RecordStream(void* pointer, StreamId stream) {
  if (Device* device = FindDevice(DeviceOf(pointer)))
    device->allocator().RecordStream(pointer, stream);
}

int DeviceOf(const void* pointer) {
  const Segment* segment = pointer ? Segments().Find(pointer) : nullptr;
  return segment ? segment->device : -1;
}

MemoryStatistics Statistics(int device) {
  Device* found = FindDevice(device);
  return found ? found->allocator().Statistics() : MemoryStatistics();
}

void ResetPeakStatistics(int device) {
  if (Device* found = FindDevice(device)) found->allocator().ResetPeakStatistics();
}

void EmptyCache(int device) {
  if (Device* found = FindDevice(device)) found->allocator().EmptyCache();
}

int64_t FreeBytes(int device) {
  const StatusOr<Device*> found = GetDevice(device);
  return found.ok() ? (*found)->allocator().FreeBytes() : 0;
}

std::string MemorySnapshotJson(int device) {
  Device* found = FindDevice(device);
  return found ? found->allocator().SnapshotJson() : "{\"segments\":[]}";
}

}  // namespace neuron::runtime
