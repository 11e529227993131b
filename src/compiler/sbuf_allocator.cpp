#include "compiler/sbuf_allocator.h"

#include <algorithm>

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
  return ResourceExhausted("on-chip memory: ", bytes, " bytes per partition asked, ",
                           capacity_ - in_use_, " of ", capacity_, " free");
}

void ColumnAllocator::Free(int64_t address) {
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

}  // namespace neuron::compiler
