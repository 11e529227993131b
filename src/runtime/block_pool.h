// Blocks and the free lists of one pool: segregated fit with splitting and coalescing.
//
// Sizes are multiples of 64 bytes. Up to 8 KiB each size has its own list, above that each power of
// two has 32, so a block found is the best fit or within 1/32 of it. All operations are O(1): a
// bitmap of the lists that hold something finds the next larger one. Not thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/segment.h"

namespace neuron::runtime {

class Event;
class BlockPool;

inline constexpr int64_t kAlignment = 64;

struct Block {
  uintptr_t address = 0;
  int64_t bytes = 0;
  int64_t requested = 0;
  Segment* segment = nullptr;
  BlockPool* pool = nullptr;
  Block* lower = nullptr;  // neighbours in the segment
  Block* upper = nullptr;
  Block* free_before = nullptr;  // neighbours in the free list
  Block* free_after = nullptr;
  bool free = false;
  bool foreign = false;  // other streams used it: `streams` says which
  std::vector<int64_t> streams;
};

// Block objects of one allocator, reused.
class BlockStore {
 public:
  Block* New();
  void Delete(Block* block) { unused_.push_back(block); }

 private:
  std::deque<Block> blocks_;
  std::vector<Block*> unused_;
};

class BlockPool {
 public:
  explicit BlockPool(BlockStore& store) : store_(store) {}

  // A block of at least `bytes`, taken out and split; null if there is none.
  Block* Take(int64_t bytes);
  // Returns a block, joined with free neighbours. The result is the joined block.
  Block* Give(Block* block);
  // Takes a free block out, whole: before its segment is released.
  void Remove(Block* block);

 private:
  static constexpr int kExact = 128;    // lists of one size each: 0 .. 127 units of 64 bytes
  static constexpr int kPerPower = 32;  // lists per power of two above
  static constexpr int kLists = kExact + kPerPower * 36;
  static constexpr int kWords = (kLists + 63) / 64;
  static_assert(kWords <= 64);
  static int ListOf(int64_t bytes);
  void Insert(Block* block);
  Block* FirstFit(int list, int64_t bytes);

  BlockStore& store_;
  std::array<Block*, kLists> lists_{};
  std::array<uint64_t, kWords> occupied_{};
  uint64_t words_ = 0;  // which of occupied_ are not zero
};

}  // namespace neuron::runtime
