// The memories of the machine: SBUF and PSUM of a core, and HBM with its allocator.
//
// All are anonymous memory, reserved at once and touched lazily, on huge pages. The pitch of a
// partition is the generation's size plus one cache line: a power of two would map all partitions
// to the same cache sets.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "base/status.h"

namespace neuron::emulator {

// Reserved address space; readable and writable, or (guard) neither.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  static StatusOr<Mapping> Reserve(int64_t bytes, bool accessible);
  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

class OnChipMemory {
 public:
  static constexpr int64_t kPad = 64;
  static StatusOr<OnChipMemory> Create(int64_t bytes_per_partition);
  char* partition(int64_t p) const { return mapping_.data() + p * pitch_; }
  int64_t pitch() const { return pitch_; }

 private:
  Mapping mapping_;
  int64_t pitch_ = 0;
};

// HBM of one logical core: first fit by address, 4 KiB granules. Thread safe.
//
// With `guard` the addresses that users see are not mapped for the host; the emulator reaches the
// same bytes through `host`.
class Hbm {
 public:
  Hbm(int64_t capacity, bool guard) : capacity_(capacity), guard_(guard) {}

  struct Block {
    char* host = nullptr;     // where the emulator reads and writes
    char* address = nullptr;  // what users see
    int64_t bytes = 0;
  };
  StatusOr<Block> Allocate(int64_t bytes);
  void Free(const Block& block);
  int64_t capacity() const { return capacity_; }
  int64_t used() const;
  int64_t peak() const;

 private:
  Status Reserve();

  const int64_t capacity_;
  const bool guard_;
  mutable std::mutex mutex_;
  Mapping memory_, addresses_;
  std::map<int64_t, int64_t> free_;  // offset -> bytes
  int64_t used_ = 0, peak_ = 0;
};

}  // namespace neuron::emulator
