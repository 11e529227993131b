#include "runtime/block_pool.h"

#include <bit>

#include "base/status.h"

namespace neuron::runtime {

Block* BlockStore::New() {
  if (unused_.empty()) return &blocks_.emplace_back();
  Block* block = unused_.back();
  unused_.pop_back();
  std::vector<int64_t> streams = std::move(block->streams);
  streams.clear();
  *block = Block{};
  block->streams = std::move(streams);
  return block;
}

int BlockPool::ListOf(int64_t bytes) {
  const auto units = static_cast<uint64_t>(bytes) / kAlignment;
  if (units < kExact) return static_cast<int>(units);
  const int power = std::bit_width(units) - 1;  // at least 7
  const auto within = static_cast<int>((units >> (power - 5)) & (kPerPower - 1));
  return kExact + (power - 7) * kPerPower + within;
}

void BlockPool::Insert(Block* block) {
  const int list = ListOf(block->bytes);
  block->free = true;
  block->free_before = nullptr;
  block->free_after = lists_[static_cast<size_t>(list)];
  if (block->free_after) block->free_after->free_before = block;
  lists_[static_cast<size_t>(list)] = block;
  occupied_[static_cast<size_t>(list / 64)] |= uint64_t{1} << (list % 64);
  words_ |= uint64_t{1} << (list / 64);
}

void BlockPool::Remove(Block* block) {
  const int list = ListOf(block->bytes);
  if (block->free_before)
    block->free_before->free_after = block->free_after;
  else
    lists_[static_cast<size_t>(list)] = block->free_after;
  if (block->free_after) block->free_after->free_before = block->free_before;
  if (lists_[static_cast<size_t>(list)] == nullptr) {
    uint64_t& word = occupied_[static_cast<size_t>(list / 64)];
    word &= ~(uint64_t{1} << (list % 64));
    if (word == 0) words_ &= ~(uint64_t{1} << (list / 64));
  }
  block->free = false;
}

// In the size's own list blocks may be too small; look at a few before a larger list is cut.
Block* BlockPool::FirstFit(int list, int64_t bytes) {
  Block* best = nullptr;
  int looked_at = 0;
  for (Block* block = lists_[static_cast<size_t>(list)]; block != nullptr && looked_at < 16;
       block = block->free_after, ++looked_at) {
    if (block->bytes >= bytes && (best == nullptr || block->bytes < best->bytes)) {
      best = block;
      if (best->bytes == bytes) break;
    }
  }
  return best;
}

Block* BlockPool::Take(int64_t bytes) {
  const int list = ListOf(bytes);
  Block* block = FirstFit(list, bytes);
  if (block == nullptr) {
    const int next = list + 1;
    auto word = static_cast<size_t>(next / 64);
    uint64_t bits = word < kWords ? occupied_[word] & (~uint64_t{0} << (next % 64)) : 0;
    if (bits == 0) {
      const uint64_t words = word + 1 < 64 ? words_ & (~uint64_t{0} << (word + 1)) : 0;
      if (words == 0) return nullptr;
      word = static_cast<size_t>(std::countr_zero(words));
      bits = occupied_[word];
    }
    block = FirstFit(static_cast<int>(word) * 64 + std::countr_zero(bits), bytes);
  }
  Remove(block);
  if (block->bytes > bytes) {
    Block* rest = store_.New();
    rest->address = block->address + static_cast<uintptr_t>(bytes);
    rest->bytes = block->bytes - bytes;
    rest->segment = block->segment;
    rest->pool = this;
    rest->lower = block;
    rest->upper = block->upper;
    if (rest->upper) rest->upper->lower = rest;
    block->upper = rest;
    block->bytes = bytes;
    Insert(rest);
  }
  return block;
}

Block* BlockPool::Give(Block* block) {
  NEURON_CHECK(!block->free, "a block was returned twice");
  if (Block* upper = block->upper; upper != nullptr && upper->free) {
    Remove(upper);
    block->bytes += upper->bytes;
    block->upper = upper->upper;
    if (block->upper) block->upper->lower = block;
    store_.Delete(upper);
  }
  if (Block* lower = block->lower; lower != nullptr && lower->free) {
    Remove(lower);
    lower->bytes += block->bytes;
    lower->upper = block->upper;
    if (lower->upper) lower->upper->lower = lower;
    store_.Delete(block);
    block = lower;
  }
  Insert(block);
  return block;
}

}  // namespace neuron::runtime
