#include "runtime/segment.h"

#include <algorithm>

namespace neuron::runtime {

SegmentTable::SegmentTable() : entries_(new Entries(64)) {}

Segment* SegmentTable::Find(const void* address) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  for (;;) {
    const uint64_t version = version_.load(std::memory_order_acquire);
    if (version & 1) continue;  // a writer moves at most a few entries
    const Entries& table = *entries_.load(std::memory_order_acquire);
    const size_t size = table.size.load(std::memory_order_acquire);
    size_t low = 0, high = size;  // the last entry whose base <= wanted is at low - 1
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (table.entries[middle].base.load(std::memory_order_acquire) <= wanted)
        low = middle + 1;
      else
        high = middle;
    }
    Segment* found = nullptr;
    if (low > 0 && wanted < table.entries[low - 1].end.load(std::memory_order_acquire))
      found = table.entries[low - 1].segment.load(std::memory_order_acquire);
    if (version_.load(std::memory_order_acquire) == version) return found;
  }
}

void SegmentTable::Set(Entry& entry, Segment* segment) {
  entry.base.store(segment->base, std::memory_order_release);
  entry.end.store(segment->base + static_cast<uintptr_t>(segment->bytes),
                  std::memory_order_release);
  entry.segment.store(segment, std::memory_order_release);
}

void SegmentTable::Insert(Segment* segment) {
  std::lock_guard lock(mutex_);
  const auto at =
      std::upper_bound(sorted_.begin(), sorted_.end(), segment,
                       [](const Segment* a, const Segment* b) { return a->base < b->base; });
  const auto index = static_cast<size_t>(at - sorted_.begin());
  sorted_.insert(at, segment);
  Entries* table = entries_.load(std::memory_order_relaxed);
  version_.fetch_add(1, std::memory_order_acq_rel);
  if (sorted_.size() > table->entries.size()) {
    // The old array stays for readers that hold it; doubling bounds what is kept.
    auto* larger = new Entries(table->entries.size() * 2);
    for (size_t i = 0; i < index; ++i) Set(larger->entries[i], sorted_[i]);
    entries_.store(larger, std::memory_order_release);
    table = larger;
  }
  for (size_t i = index; i < sorted_.size(); ++i) Set(table->entries[i], sorted_[i]);
  table->size.store(sorted_.size(), std::memory_order_release);
  version_.fetch_add(1, std::memory_order_acq_rel);
}

void SegmentTable::Remove(Segment* segment) {
  std::lock_guard lock(mutex_);
  const auto at = std::find(sorted_.begin(), sorted_.end(), segment);
  if (at == sorted_.end()) return;
  const auto index = static_cast<size_t>(at - sorted_.begin());
  sorted_.erase(at);
  Entries* table = entries_.load(std::memory_order_relaxed);
  version_.fetch_add(1, std::memory_order_acq_rel);
  for (size_t i = index; i < sorted_.size(); ++i) Set(table->entries[i], sorted_[i]);
  table->size.store(sorted_.size(), std::memory_order_release);
  version_.fetch_add(1, std::memory_order_acq_rel);
  unused_.push_back(segment);
}

Segment* SegmentTable::NewSegment() {
  std::lock_guard lock(mutex_);
  Segment* segment;
  if (unused_.empty()) {
    segment = new Segment;
  } else {
    segment = unused_.back();
    unused_.pop_back();
    *segment = Segment{};
  }
  segment->id = next_id_++;
  return segment;
}

SegmentTable& Segments() {
  static auto& table = *new SegmentTable;
  return table;
}

}  // namespace neuron::runtime
