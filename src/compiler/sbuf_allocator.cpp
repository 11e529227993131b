#include "compiler/sbuf_allocator.h"

#include <algorithm>
#include <utility>

namespace neuron::compiler {

StatusOr<int64_t> ColumnAllocator::Allocate(int64_t bytes) {
  const int64_t size =
      std::max<int64_t>(alignment_, (bytes + alignment_ - 1) / alignment_ * alignment_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < size) continue;
    const int64_t address = it->first;
    const int64_t rest = it->second - size;
    free_.erase(it);
    if (rest > 0) free_[address + size] = rest;
    allocated_[address] = size;
    in_use_ += size;
    high_water_ = std::max(high_water_, address + size);
    return address;
  }
  if (!deferred_.empty()) {
    EndDefer();
    defers_ = true;
    return Allocate(bytes);
  }
  return ResourceExhausted("on-chip memory: ", bytes, " bytes per partition asked, ",
                           capacity_ - in_use_, " of ", capacity_, " free");
}

void ColumnAllocator::EndDefer() {
  defers_ = false;
  for (const int64_t address : std::exchange(deferred_, {})) Free(address);
}

void ColumnAllocator::Free(int64_t address) {
  if (defers_) return deferred_.push_back(address);
  const auto it = allocated_.find(address);
  NEURON_CHECK(it != allocated_.end(), "no tile at ", address);
  int64_t begin = it->first;
  int64_t size = it->second;
  in_use_ -= size;
  allocated_.erase(it);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  free_[begin] = size;
}

int64_t ColumnAllocator::top() const {
  return allocated_.empty() ? 0 : allocated_.rbegin()->first + allocated_.rbegin()->second;
}

std::vector<int64_t> ColumnAllocator::Take(int64_t begin, int64_t end) {
  std::vector<int64_t> taken;
  for (auto it = free_.begin(); it != free_.end() && it->first < end;) {
    const auto [address, size] = *it;
    const int64_t from = std::max(address, begin);
    const int64_t to = std::min(address + size, end);
    if (from >= to) {
      ++it;
      continue;
    }
    it = free_.erase(it);
    if (address < from) free_[address] = from - address;
    if (to < address + size) free_[to] = address + size - to;
    allocated_[from] = to - from;
    in_use_ += to - from;
    taken.push_back(from);
  }
  return taken;
}

}  // namespace neuron::compiler
