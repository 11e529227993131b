#include <ATen/core/CachingHostAllocator.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "torch/allocator.h"
#include "torch/device.h"

namespace neuron::pytorch {
namespace {

constexpr size_t kAlignment = 4096;  // whole pages, as a DMA engine needs

struct Block {
  size_t bytes = 0;
  std::vector<std::shared_ptr<runtime::Event>> pending;
};

struct Registry {
  std::mutex mutex;
  std::map<uintptr_t, Block> blocks;

  // Requires the lock. nullptr: not pinned.
  Block* Find(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    auto it = blocks.upper_bound(address);
    if (it == blocks.begin()) return nullptr;
    --it;
    return address < it->first + it->second.bytes ? &it->second : nullptr;
  }
};

Registry& TheRegistry() {
  static auto* registry = new Registry;  // pinned tensors may outlive static destructors
  return *registry;
}

void FreePinned(void* pointer) {
  if (pointer == nullptr) return;
  Block block;
  {
    Registry& registry = TheRegistry();
    const std::lock_guard lock(registry.mutex);
    auto node = registry.blocks.extract(reinterpret_cast<uintptr_t>(pointer));
    if (!node.empty()) block = std::move(node.mapped());
  }
  for (const auto& event : block.pending) {
    runtime::AwaitEvent(*event);
  }
  std::free(pointer);
}

// Blocks are not cached: pinning costs nothing that a page fault does not.
class Allocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &FreePinned, cpu};
    void* pointer = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) & ~(kAlignment - 1));
    TORCH_CHECK_WITH(OutOfMemoryError, pointer != nullptr, "pin_memory: the host has no ", bytes,
                     " bytes");
    Registry& registry = TheRegistry();
    const std::lock_guard lock(registry.mutex);
    registry.blocks[reinterpret_cast<uintptr_t>(pointer)].bytes = bytes;
    return {pointer, pointer, &FreePinned, cpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &FreePinned; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
  bool record_event(void* pointer, void*, c10::Stream stream) override {
    RecordPinnedUse(pointer, stream.device_index(), stream.id());
    return true;
  }
  void empty_cache() override {}
  at::HostStats get_stats() override {
    at::HostStats stats;
    Registry& registry = TheRegistry();
    const std::lock_guard lock(registry.mutex);
    for (const auto& [address, block] : registry.blocks) {
      stats.allocations.increase(1);
      stats.allocated_bytes.increase(block.bytes);
    }
    return stats;
  }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

}  // namespace

c10::Allocator* PinnedAllocator() {
  static auto* allocator = new Allocator;
  return allocator;
}
REGISTER_HOST_ALLOCATOR(c10::DeviceType::PrivateUse1,
                        static_cast<at::HostAllocator*>(PinnedAllocator()));

bool IsPinned(const void* pointer) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  return registry.Find(pointer) != nullptr;
}

void RecordPinnedUse(const void* pointer, int device, runtime::StreamId stream) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  Block* block = registry.Find(pointer);
  if (block == nullptr) return;
  std::erase_if(block->pending, [](const auto& event) { return runtime::QueryEvent(*event); });
  block->pending.push_back(runtime::RecordEvent(device, stream, /*timing=*/false));
}

}  // namespace neuron::pytorch
