// Dimension numbers of HLO gather and scatter as a list of windows: which box of the operand goes
// with which elements of the gather's result or the scatter's updates.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "emulator/gpsimd_kernel.h"

namespace neuron::emulator::wide {

struct IndexingDimensions {
  const std::vector<int64_t>& operand_dims;
  const std::vector<int64_t>& index_dims;
  const std::vector<int64_t>& result_dims;  // gather's result, scatter's updates
  const std::vector<int64_t>& window_dims;  // of the result: offset_dims, update_window_dims
  const std::vector<int64_t>& absent_dims;  // of the operand: collapsed, inserted
  const std::vector<int64_t>& index_map;    // operand dimension of each index component
  const std::vector<int64_t>& operand_batching;
  const std::vector<int64_t>& index_batching;
  int64_t index_vector_dim;
  const std::vector<int64_t>& window_sizes;  // per operand dimension
};

struct WindowPlace {
  int64_t operand_offset;  // elements, of the window with its start clamped into the operand
  int64_t result_offset;
  bool in_bounds;  // false: clamping moved it
};

struct Run {  // an innermost row of the window, relative to its place
  int64_t operand_offset, result_offset, length;
};

class WindowIndexing {
 public:
  static StatusOr<WindowIndexing> Make(std::string_view kernel, const IndexingDimensions& d);
  int64_t count() const { return count_; }  // windows, in row-major order of the result
  WindowPlace Place(int64_t window, const KernelTensor& indices) const;
  const std::vector<Run>& runs() const { return runs_; }
  int64_t operand_stride() const { return operand_stride_; }  // inside a run
  int64_t result_stride() const { return result_stride_; }
  bool contiguous() const { return operand_stride_ == 1 && result_stride_ == 1; }

 private:
  struct Batch {  // a result dimension that is not of the window
    int64_t size, result_stride, index_stride, operand_stride;
  };
  struct Component {
    int64_t index_offset, operand_stride, limit;  // start is in [0, limit]
  };
  std::vector<Batch> batches_;
  std::vector<Component> components_;
  std::vector<Run> runs_;
  int64_t count_ = 1, operand_stride_ = 1, result_stride_ = 1;
};

}  // namespace neuron::emulator::wide
