#include "torch/allocator.h"

#include "torch/capture.h"
#include "torch/device.h"

namespace neuron::pytorch {
namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatType;

void FreeBlock(void* pointer) { runtime::Free(pointer); }

void Set(c10::CachingAllocator::StatArray& array, int64_t current, int64_t peak, int64_t allocated,
         int64_t freed) {
  Stat& stat = array[static_cast<size_t>(StatType::AGGREGATE)];
  stat.current = current;
  stat.peak = peak;
  stat.allocated = allocated;
  stat.freed = freed;
}

// Called with or without the GIL: touches no Python.
class NeuronAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override { return AllocateOn(CurrentDevice(), bytes); }
  c10::DeleterFnPtr raw_deleter() const override { return &FreeBlock; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    const int device = runtime::DeviceOf(to);
    ThrowIfError(runtime::CopyOnDevice(device, CurrentStream(device), to, from,
                                       static_cast<int64_t>(bytes)));
  }

  bool initialized() override { return runtime::IsInitialized(); }

  void emptyCache(c10::MempoolId_t) override {
    if (!initialized()) return;
    for (int device = 0; device < DeviceCount(); ++device) runtime::EmptyCache(device);
  }

  void recordStream(const c10::DataPtr& pointer, c10::Stream stream) override {
    if (pointer.get() != nullptr) runtime::RecordStream(pointer.get(), stream.id());
  }

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    EnsureInitialized();
    const runtime::MemoryStatistics s = runtime::Statistics(device);
    c10::CachingDeviceAllocator::DeviceStats out;
    Set(out.allocated_bytes, s.allocated_bytes, s.peak_allocated_bytes, 0, 0);
    Set(out.active_bytes, s.allocated_bytes, s.peak_allocated_bytes, 0, 0);
    Set(out.requested_bytes, s.allocated_bytes, s.peak_allocated_bytes, 0, 0);
    Set(out.reserved_bytes, s.reserved_bytes, s.peak_reserved_bytes, 0, 0);
    Set(out.allocation, s.active_blocks, s.active_blocks, s.allocations, s.frees);
    Set(out.active, s.active_blocks, s.active_blocks, s.allocations, s.frees);
    Set(out.segment, s.segments, s.segments, s.segments, 0);
    out.num_alloc_retries = s.retries;
    out.num_ooms = s.out_of_memory;
    return out;
  }

  // The runtime counts since the start of the process; only peaks can be reset.
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex device) override {
    EnsureInitialized();
    runtime::ResetPeakStatistics(device);
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    EnsureInitialized();
    const auto total = static_cast<size_t>(runtime::Properties(device).total_memory);
    const auto used = static_cast<size_t>(runtime::Statistics(device).reserved_bytes);
    return {used < total ? total - used : 0, total};
  }
};

NeuronAllocator& Instance() {
  static auto* allocator = new NeuronAllocator;  // outlives every tensor
  return *allocator;
}

}  // namespace

c10::DeviceAllocator* DeviceAllocator() { return &Instance(); }

c10::DataPtr AllocateOn(int device, size_t bytes) {
  EnsureInitialized();
  if (bytes == 0) return {nullptr, nullptr, &FreeBlock, DeviceAt(device)};
  void* pointer =
      ValueOrThrow(runtime::Allocate(device, static_cast<int64_t>(bytes), CurrentStream(device)));
  c10::DataPtr memory(pointer, pointer, &FreeBlock, DeviceAt(device));
  return IsCapturing() ? KeepForCapture(std::move(memory)) : std::move(memory);
}

REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, DeviceAllocator());

}  // namespace neuron::pytorch
