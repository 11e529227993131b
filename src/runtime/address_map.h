// Address -> block in use: open addressing with linear probing, no tombstones.
//
// Not thread safe. Grows at half load; an entry costs 16 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/block_pool.h"

namespace neuron::runtime {

class AddressMap {
 public:
  AddressMap() : slots_(1024) {}

  void Insert(Block* block) {
    if (++size_ * 2 > slots_.size()) Grow();
    Place(block);
  }
  Block* Find(uintptr_t address) const {
    for (size_t i = Home(address);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].address == address) return slots_[i].block;
      if (slots_[i].block == nullptr) return nullptr;
    }
  }
  // Null if the address is not there.
  Block* Remove(uintptr_t address) {
    const size_t mask = slots_.size() - 1;
    size_t hole = Home(address);
    while (slots_[hole].address != address) {
      if (slots_[hole].block == nullptr) return nullptr;
      hole = (hole + 1) & mask;
    }
    Block* block = slots_[hole].block;
    // Entries that probed over the hole move back into it.
    for (size_t i = (hole + 1) & mask; slots_[i].block != nullptr; i = (i + 1) & mask) {
      if (((i - Home(slots_[i].address)) & mask) >= ((i - hole) & mask)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = {};
    --size_;
    return block;
  }

 private:
  struct Slot {
    uintptr_t address = 0;
    Block* block = nullptr;
  };
  size_t Home(uintptr_t address) const {
    return ((address / kAlignment) * 0x9e3779b97f4a7c15u >> 20) & (slots_.size() - 1);
  }
  void Place(Block* block) {
    size_t i = Home(block->address);
    while (slots_[i].block != nullptr) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {block->address, block};
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.block != nullptr) Place(slot.block);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

}  // namespace neuron::runtime
