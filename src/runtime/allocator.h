// The caching allocator of one device.
//
// Memory comes from NRT in segments (one NRT tensor each) and is never returned while it may be
// used again. Each stream has two pools, for blocks up to 1 MiB and above, so that small tensors do
// not fragment large segments. A freed block goes back to its own stream's pool at once: whoever
// gets it next is ordered after its last use. Blocks that other streams have used (RecordStream)
// wait for events on those streams first.
//
// Thread safe; about 100 ns for Allocate or Free. Calls of Hooks are made without the lock held.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "nrt/loader.h"
#include "runtime/address_map.h"
#include "runtime/block_pool.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

class Allocator {
 public:
  struct Hooks {
    // Everything queued on the device has run when this returns.
    std::function<void()> synchronize;
    // Bindings to these segments are dropped: they are released next.
    std::function<void(const std::vector<Segment*>&)> before_release;
    std::function<std::shared_ptr<Event>(StreamId)> record_event;
  };
  // `total_bytes`: HBM of the logical core, 0 if not known.
  Allocator(const nrt::Library& nrt, int device, int64_t total_bytes, Hooks hooks);
  Allocator(const Allocator&) = delete;

  StatusOr<void*> Allocate(int64_t bytes, StreamId stream);
  // False: the pointer is not the start of a block in use.
  bool Free(void* pointer);
  void RecordStream(void* pointer, StreamId stream);
  // Bytes of the block in use that starts at the pointer; 0 if none does.
  int64_t SizeOf(const void* pointer) const;

  // Releases all segments that are wholly free, after synchronising. Returns the bytes.
  int64_t EmptyCache();
  // `allocate` takes device memory outside of this allocator: what is cached here makes room.
  template <typename F>
  Status WithMemory(F&& allocate) {
    Status status = allocate();
    if (status.code() != StatusCode::kResourceExhausted || EmptyCache() == 0) return status;
    return allocate();
  }
  MemoryStatistics Statistics() const;
  void ResetPeakStatistics();
  std::string SnapshotJson() const;
  int64_t total_bytes() const { return total_bytes_; }
  int64_t FreeBytes() const;  // of the device, as NRT reports; total minus reserved if it does not

 private:
  struct Pools {
    BlockPool small, large;
    int64_t small_reserved = 0, large_reserved = 0;
    explicit Pools(BlockStore& store) : small(store), large(store) {}
  };
  struct Waiting {  // freed, but used by other streams
    Block* block;
    std::vector<std::shared_ptr<Event>> events;
  };

  Pools& PoolsOf(StreamId stream);
  Block* TakeLocked(Pools& pools, bool small, int64_t bytes);
  void GiveLocked(Block* block);
  void ReturnFinishedLocked();
  Status Grow(int64_t bytes, StreamId stream, bool small, bool smallest);
  Status OutOfMemory(int64_t requested, const Status& cause);

  const nrt::Library& nrt_;
  const int device_;
  const int64_t total_bytes_;
  const Hooks hooks_;

  mutable std::mutex mutex_;
  BlockStore store_;
  std::vector<std::unique_ptr<Pools>> pools_;  // by stream
  AddressMap in_use_;
  std::vector<Segment*> segments_;
  std::vector<Waiting> waiting_;
  MemoryStatistics statistics_;
};

}  // namespace neuron::runtime
