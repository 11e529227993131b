// Scalar blocks: small device buffers that carry a launch's byte offsets and run-time scalars.
//
// Blocks are slices of a few NRT tensors. Thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "nrt/loader.h"

namespace neuron::runtime {

// One program's block. `values` is where the host writes: the device memory itself where that is
// host addressable, else a copy that Upload sends.
class ScalarBlock {
 public:
  int64_t* values() { return values_; }
  nrt_tensor_t* tensor() const { return tensor_; }
  Status Upload();

 private:
  friend class ScalarArena;
  const nrt::Library* nrt_ = nullptr;
  nrt_tensor_t* tensor_ = nullptr;
  int64_t* values_ = nullptr;
  int64_t slots_ = 0;
  std::vector<int64_t> copy_;  // empty: values_ is device memory
};

class ScalarArena {
 public:
  ScalarArena(const nrt::Library& nrt, int device) : nrt_(nrt), device_(device) {}
  StatusOr<std::unique_ptr<ScalarBlock>> New(int64_t slots);
  void Delete(std::unique_ptr<ScalarBlock> block);

 private:
  const nrt::Library& nrt_;
  const int device_;
  std::mutex mutex_;
  nrt_tensor_t* current_ = nullptr;  // slices are cut from it; lives as long as they do
  size_t used_ = 0;
  std::vector<std::unique_ptr<ScalarBlock>> unused_;
};

}  // namespace neuron::runtime
