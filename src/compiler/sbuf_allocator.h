// Byte columns of SBUF or PSUM: the same addresses on all partitions. First fit; a kernel frees a
// tile after its last use, so that addresses are reused inside a kernel and between kernels.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/status.h"

namespace neuron::compiler {

class ColumnAllocator {
 public:
  ColumnAllocator(int64_t capacity, int64_t alignment)
      : capacity_(capacity), alignment_(alignment) {
    free_[0] = capacity;
  }
  // Byte address of `bytes` contiguous bytes per partition.
  StatusOr<int64_t> Allocate(int64_t bytes);
  void Free(int64_t address);  // requires an address that Allocate returned
  // Takes all that is free in [begin, end); Free gives the pieces back.
  std::vector<int64_t> Take(int64_t begin, int64_t end);
  // From now on freed pieces are used again only when nothing else is left, or after EndDefer:
  // what is written next need not wait for who still reads them.
  void Defer() { defers_ = true; }
  void EndDefer();
  int64_t capacity() const { return capacity_; }
  int64_t high_water() const { return high_water_; }
  int64_t in_use() const { return in_use_; }
  // The end of the last allocated piece.
  int64_t top() const;

 private:
  int64_t capacity_, alignment_;
  int64_t high_water_ = 0, in_use_ = 0;
  std::map<int64_t, int64_t> free_;       // address -> bytes
  std::map<int64_t, int64_t> allocated_;  // address -> bytes
  bool defers_ = false;
  std::vector<int64_t> deferred_;  // freed, and taken still
};

}  // namespace neuron::compiler
