#include "lowering/strided.h"

#include <algorithm>
#include <numeric>

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;
using hlo::Value;
using Dims = std::vector<int64_t>;

// The dimensions that move through memory, outermost stride first. Memory is seen as a grid:
// [n0, s0/s1, s1/s2, ..., s(k-1)], of which dimension j takes the first n_j entries and the last
// one every s_k-th.
struct Grid {
  std::vector<size_t> order;  // positions in sizes and strides
  Dims shape;
  Dims limits, steps;   // the slice of the grid that is the tensor
  bool exists = false;  // false: strides overlap or do not divide
};

Grid MakeGrid(const Dims& sizes, const Dims& strides) {
  Grid grid;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1 && strides[i] > 0) grid.order.push_back(i);
  }
  std::ranges::stable_sort(grid.order, [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  for (size_t k = 0; k < grid.order.size(); ++k) {
    const size_t i = grid.order[k];
    const bool last = k + 1 == grid.order.size();
    const int64_t span = (sizes[i] - 1) * strides[i] + 1;  // of this dimension alone
    int64_t extent = sizes[i];
    if (k > 0) {
      const int64_t outer = strides[grid.order[k - 1]];
      if (span > outer || (!last && outer % strides[i] != 0)) return grid;
      extent = last ? outer : outer / strides[i];
    } else if (last) {
      extent = span;
    }
    grid.shape.push_back(extent);
    grid.limits.push_back(last ? span : sizes[i]);
    grid.steps.push_back(last ? strides[i] : 1);
  }
  grid.exists = true;
  return grid;
}

int64_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// The flat memory as the grid. The tail is padded where the last row is short; what is read of it
// later never reaches the padding, so the whole is one strided view.
Value ToGrid(Builder& b, Value flat, const Grid& grid) {
  const int64_t missing = Product(grid.shape) - flat.dim(0);
  if (missing > 0) {
    flat = b.Pad(flat, b.Constant(flat.dtype(), 0.0), {{.low = 0, .high = missing, .interior = 0}});
  }
  return b.Reshape(flat, grid.shape);
}

// s32 positions in flat memory of each element.
Value Positions(Builder& b, const Dims& sizes, const Dims& strides) {
  const Shape shape = Shape::Array(DType::kS32, sizes);
  Value sum = b.Full(shape, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1 || strides[i] == 0) continue;
    const Value step = b.ConstantInt(DType::kS32, strides[i]);
    sum = b.Add(sum, b.Multiply(b.Iota(shape, static_cast<int64_t>(i)), step));
  }
  return sum;
}

}  // namespace

int64_t FlatExtent(const Dims& sizes, const Dims& strides) {
  int64_t extent = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    extent += (sizes[i] - 1) * strides[i];
  }
  return extent;
}

bool IsDense(const Dims& sizes, const Dims& strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

Value FromStrided(Builder& b, Value flat, const Dims& sizes, const Dims& strides) {
  if (IsDense(sizes, strides)) return b.Reshape(flat, sizes);
  const Grid grid = MakeGrid(sizes, strides);
  if (!grid.exists) {
    const Value positions = Positions(b, sizes, strides);
    hlo::GatherDimensions dims;
    dims.collapsed_slice_dims = {0};
    dims.start_index_map = {0};
    dims.index_vector_dim = static_cast<int64_t>(sizes.size());
    dims.slice_sizes = {1};
    return b.Gather(flat, positions, dims);
  }
  // A broadcast tensor: dimensions of stride 0 or extent 1 are added at the end.
  Value x = ToGrid(b, flat, grid);
  if (grid.order.empty()) return b.Broadcast(b.Reshape(x, {}), sizes, {});
  Dims sliced;
  for (const size_t i : grid.order) sliced.push_back(sizes[i]);
  if (sliced != grid.shape) x = b.Slice(x, Dims(grid.shape.size(), 0), grid.limits, grid.steps);
  // Logical order of the moving dimensions.
  std::vector<size_t> logical(grid.order.size());
  std::iota(logical.begin(), logical.end(), size_t{0});
  std::ranges::sort(logical, [&](size_t a, size_t c) { return grid.order[a] < grid.order[c]; });
  if (!std::ranges::is_sorted(logical)) x = b.Transpose(x, Dims(logical.begin(), logical.end()));
  if (grid.order.size() == sizes.size()) return x;
  Dims positions;
  for (const size_t k : logical) positions.push_back(static_cast<int64_t>(grid.order[k]));
  bool only_ones = true;
  for (size_t i = 0; i < sizes.size(); ++i) only_ones &= sizes[i] == 1 || strides[i] != 0;
  return only_ones ? b.Reshape(x, sizes) : b.Broadcast(x, sizes, positions);
}

Value ToStrided(Builder& b, Value flat, Value value, const Dims& strides) {
  const Dims& sizes = value.shape().dims;
  if (value.shape().num_elements() == 0) return flat;
  if (IsDense(sizes, strides)) return b.Reshape(value, {flat.dim(0)});
  const Grid grid = MakeGrid(sizes, strides);
  const int64_t step = grid.steps.empty() ? 1 : grid.steps.back();
  const size_t moving = grid.order.size();
  if (!grid.exists || (moving > 1 && grid.shape.back() % step != 0)) {
    // Rare: rows whose length is no multiple of the step, or strides that interleave.
    hlo::ScatterDimensions dims;
    dims.inserted_window_dims = {0};
    dims.scatter_dims_to_operand_dims = {0};
    dims.index_vector_dim = static_cast<int64_t>(sizes.size());
    dims.unique_indices = true;
    hlo::Computation* replace = b.SubComputation(
        "replace", {Shape::Array(flat.dtype(), {}), Shape::Array(flat.dtype(), {})},
        [](Builder&, std::span<const Value> p) { return p[1]; });
    return b.Scatter(flat, Positions(b, sizes, strides), value, dims, replace);
  }
  const int64_t length = flat.dim(0);
  // In memory order, without dimensions of extent 1.
  Dims squeezed, permutation, sorted(grid.order.begin(), grid.order.end());
  std::ranges::sort(sorted);
  for (const int64_t i : sorted) squeezed.push_back(sizes[static_cast<size_t>(i)]);
  for (const size_t i : grid.order) {
    permutation.push_back(std::ranges::find(sorted, static_cast<int64_t>(i)) - sorted.begin());
  }
  Value update = b.Reshape(value, squeezed);
  if (!std::ranges::is_sorted(permutation)) update = b.Transpose(update, permutation);
  if (update.shape().dims == grid.shape) return b.Reshape(update, {length});
  Dims shape = grid.shape;
  if (step != 1) {
    // The innermost dimension becomes rows of `step`, of which the first element is written.
    shape.back() = moving > 1 ? shape.back() / step : sizes[grid.order[0]];
    shape.push_back(step);
    Dims rows = update.shape().dims;
    rows.push_back(1);
    update = b.Reshape(update, rows);
  }
  Grid whole = grid;
  whole.shape = shape;
  Value x = ToGrid(b, flat, whole);
  const std::vector<Value> zeros(shape.size(), b.ConstantInt(DType::kS32, 0));
  x = b.DynamicUpdateSlice(x, update, zeros);
  x = b.Reshape(x, {Product(shape)});
  return x.dim(0) == length ? x : b.Slice(x, {0}, {length}, {1});
}

}  // namespace neuron::lowering
