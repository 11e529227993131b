#include "emulator/wide/indexing.h"

#include <algorithm>

#include "emulator/wide/blocks.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::wide {
namespace {

bool Has(const std::vector<int64_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(value)) != list.end();
}
bool InRange(const std::vector<int64_t>& list, size_t rank) {
  return std::all_of(list.begin(), list.end(),
                     [&](int64_t d) { return d >= 0 && static_cast<size_t>(d) < rank; });
}

}  // namespace

StatusOr<WindowIndexing> WindowIndexing::Make(std::string_view kernel,
                                              const IndexingDimensions& d) {
  const size_t rank = d.operand_dims.size(), index_rank = d.index_dims.size();
  const auto bad = [&](std::string_view what) {
    return InvalidArgument("gpsimd_kernel ", kernel, ": ", what, " do not fit an operand of rank ",
                           rank);
  };
  if (!InRange(d.absent_dims, rank) || !InRange(d.index_map, rank) ||
      !InRange(d.operand_batching, rank) || !InRange(d.index_batching, index_rank) ||
      !InRange(d.window_dims, d.result_dims.size()) || d.window_sizes.size() != rank ||
      d.index_vector_dim < 0 || static_cast<size_t>(d.index_vector_dim) > index_rank ||
      d.operand_batching.size() != d.index_batching.size())
    return bad("dimension numbers");
  for (size_t i = 0; i < rank; ++i)
    if (d.window_sizes[i] < 0 || d.window_sizes[i] > d.operand_dims[i]) return bad("window sizes");
  const bool implicit = static_cast<size_t>(d.index_vector_dim) == index_rank;
  const int64_t components = implicit ? 1 : d.index_dims[static_cast<size_t>(d.index_vector_dim)];
  if (components != static_cast<int64_t>(d.index_map.size())) return bad("index components");

  const auto operand_strides = isa::DenseView(d.operand_dims).strides;
  const auto index_strides = isa::DenseView(d.index_dims).strides;
  const auto result_strides = isa::DenseView(d.result_dims).strides;
  WindowIndexing made;
  // Result dimensions outside the window follow the index dimensions in order.
  size_t index_dim = 0;
  for (size_t r = 0; r < d.result_dims.size(); ++r) {
    if (Has(d.window_dims, r)) continue;
    if (!implicit && index_dim == static_cast<size_t>(d.index_vector_dim)) ++index_dim;
    if (index_dim >= index_rank || d.index_dims[index_dim] != d.result_dims[r])
      return bad("batch dimensions");
    Batch batch{.size = d.result_dims[r],
                .result_stride = result_strides[r],
                .index_stride = index_strides[index_dim],
                .operand_stride = 0};
    for (size_t b = 0; b < d.index_batching.size(); ++b) {
      if (static_cast<size_t>(d.index_batching[b]) != index_dim) continue;
      const size_t of = static_cast<size_t>(d.operand_batching[b]);
      if (d.operand_dims[of] != batch.size) return bad("batching dimensions");
      batch.operand_stride = operand_strides[of];
    }
    made.batches_.push_back(batch);
    made.count_ *= batch.size;
    ++index_dim;
  }
  for (size_t c = 0; c < d.index_map.size(); ++c) {
    const size_t of = static_cast<size_t>(d.index_map[c]);
    made.components_.push_back(
        {.index_offset = implicit ? 0
                                  : static_cast<int64_t>(c) *
                                        index_strides[static_cast<size_t>(d.index_vector_dim)],
         .operand_stride = operand_strides[of],
         .limit = d.operand_dims[of] - d.window_sizes[of]});
  }
  // The window: operand dimensions that are neither absent nor batching meet window_dims in order.
  std::vector<int64_t> sizes;
  std::vector<int64_t> operand_steps, result_steps;
  for (size_t i = 0; i < rank; ++i) {
    if (Has(d.absent_dims, i) || Has(d.operand_batching, i)) continue;
    if (sizes.size() >= d.window_dims.size()) return bad("window dimensions");
    const size_t r = static_cast<size_t>(d.window_dims[sizes.size()]);
    if (d.result_dims[r] > d.window_sizes[i]) return bad("window dimensions");
    sizes.push_back(d.result_dims[r]);
    operand_steps.push_back(operand_strides[i]);
    result_steps.push_back(result_strides[r]);
  }
  if (sizes.size() != d.window_dims.size()) return bad("window dimensions");
  // Join inner dimensions that are dense on both sides, so that runs are long.
  int64_t length = 1;
  if (!sizes.empty()) {
    length = sizes.back();
    made.operand_stride_ = operand_steps.back();
    made.result_stride_ = result_steps.back();
    sizes.pop_back();
    while (!sizes.empty() && operand_steps[sizes.size() - 1] == made.operand_stride_ * length &&
           result_steps[sizes.size() - 1] == made.result_stride_ * length) {
      length *= sizes.back();
      sizes.pop_back();
    }
    operand_steps.resize(sizes.size());
    result_steps.resize(sizes.size());
  }
  const StridedWalk walk(sizes);
  for (int64_t row = 0; row < walk.size(); ++row) {
    Run run{.operand_offset = 0, .result_offset = 0, .length = length};
    walk.Offsets(0, operand_steps, row, 1, &run.operand_offset);
    walk.Offsets(0, result_steps, row, 1, &run.result_offset);
    made.runs_.push_back(run);
  }
  return made;
}

WindowPlace WindowIndexing::Place(int64_t window, const KernelTensor& indices) const {
  WindowPlace place{.operand_offset = 0, .result_offset = 0, .in_bounds = true};
  int64_t index_offset = 0;
  for (size_t b = batches_.size(); b-- > 0;) {
    const int64_t at = window % batches_[b].size;
    window /= batches_[b].size;
    place.operand_offset += at * batches_[b].operand_stride;
    place.result_offset += at * batches_[b].result_stride;
    index_offset += at * batches_[b].index_stride;
  }
  for (const Component& component : components_) {
    const int64_t where = index_offset + component.index_offset;
    int64_t start = 0;
    Load(indices.dtype, indices.data, &where, 1, &start);
    if (indices.dtype == DType::kU64 && start < 0) start = INT64_MAX;
    const int64_t clamped = std::clamp<int64_t>(start, 0, component.limit);
    place.in_bounds = place.in_bounds && clamped == start;
    place.operand_offset += clamped * component.operand_stride;
  }
  return place;
}

}  // namespace neuron::emulator::wide
