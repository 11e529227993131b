// Segments: what the allocator takes from NRT, one NRT tensor each, and the table that finds the
// segment behind any device address.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "nrt/nrt_abi.h"

namespace neuron::runtime {

struct Block;

struct Segment {
  nrt_tensor_t* tensor = nullptr;
  uintptr_t base = 0;  // device virtual address
  int64_t bytes = 0;
  int device = 0;
  int64_t stream = 0;  // whose pool it serves
  bool small = false;  // which of the stream's two pools
  bool host_addressable = false;
  // Changes whenever the object is used for another NRT tensor: bindings remember it.
  uint64_t id = 0;
  Block* first = nullptr;       // lowest block
  void* reservation = nullptr;  // address space of our own, where NRT gives no address
};

// All segments of the process by address. Find takes no lock (a sequence count guards it), so that
// a launch may resolve its operands while another thread allocates; Insert and Remove are rare.
class SegmentTable {
 public:
  SegmentTable();
  // Null if the address is no device memory. The object stays readable for ever; whether it still
  // is the same segment is the caller's contract (memory in use is not released).
  Segment* Find(const void* address) const;
  void Insert(Segment* segment);
  void Remove(Segment* segment);
  // Segment objects are recycled, never deleted: Find may look at one that was just removed.
  Segment* NewSegment();

 private:
  struct Entry {
    std::atomic<uintptr_t> base{0}, end{0};
    std::atomic<Segment*> segment{nullptr};
  };
  struct Entries {
    explicit Entries(size_t capacity) : entries(capacity) {}
    std::vector<Entry> entries;
    std::atomic<size_t> size{0};
  };
  void Set(Entry& entry, Segment* segment);

  std::atomic<uint64_t> version_{0};  // odd while a writer works
  std::atomic<Entries*> entries_;
  std::mutex mutex_;  // of writers
  std::vector<Segment*> sorted_;
  std::vector<Segment*> unused_;
  uint64_t next_id_ = 1;
};

SegmentTable& Segments();  // one per process

}  // namespace neuron::runtime
