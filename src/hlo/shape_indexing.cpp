// Dynamic slices, gather and scatter: positions that are data.
#include <algorithm>

#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

bool Contains(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::find(values, value) != values.end();
}

Status CheckStarts(const ShapeQuery& q, size_t first) {
  const int64_t rank = q.operand(0).rank();
  if (static_cast<int64_t>(q.operands.size() - first) != rank)
    return ShapeError(q, "needs ", rank, " scalar start indices, got ", q.operands.size() - first);
  for (size_t i = first; i < q.operands.size(); ++i)
    if (!q.operand(i).is_scalar() || !IsInteger(q.operand(i).dtype) ||
        q.operand(i).dtype != q.operand(first).dtype)
      return ShapeError(q, "start indices must be integer scalars of one type");
  return OkStatus();
}

StatusOr<Shape> InferDynamicSlice(const ShapeQuery& q) {
  if (q.operands.empty()) return ShapeError(q, "needs an operand");
  NEURON_RETURN_IF_ERROR(CheckStarts(q, 1));
  const Shape& x = q.operand(0);
  const std::vector<int64_t>& sizes = q.attributes.dynamic_slice_sizes;
  if (static_cast<int64_t>(sizes.size()) != x.rank())
    return ShapeError(q, "needs ", x.rank(), " sizes, got ", sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 0 || sizes[i] > x.dims[i])
      return ShapeError(q, "size ", sizes[i], " does not fit dimension ", i, " of ", x.ToString());
  return Shape::Array(x.dtype, sizes);
}

StatusOr<Shape> InferDynamicUpdateSlice(const ShapeQuery& q) {
  if (q.operands.size() < 2) return ShapeError(q, "needs an operand and an update");
  NEURON_RETURN_IF_ERROR(CheckStarts(q, 2));
  const Shape& x = q.operand(0);
  const Shape& update = q.operand(1);
  if (update.dtype != x.dtype || update.rank() != x.rank())
    return ShapeError(q, "the update must have the operand's element type and rank");
  for (size_t i = 0; i < update.dims.size(); ++i)
    if (update.dims[i] > x.dims[i]) return ShapeError(q, "the update does not fit dimension ", i);
  return x;
}

// What gather and scatter share: how index vectors address the operand. `inserted` are operand
// dimensions without a place in the window (collapsed or inserted).
struct Addressing {
  const std::vector<int64_t>& index_map;
  const std::vector<int64_t>& inserted;
  const std::vector<int64_t>& operand_batching;
  const std::vector<int64_t>& indices_batching;
  int64_t index_vector_dim;
};

// Checks the addressing and returns the indices' extents without the index vector.
StatusOr<std::vector<int64_t>> CheckAddressing(const ShapeQuery& q, const Addressing& a,
                                               const Shape& operand, const Shape& indices) {
  if (!IsInteger(indices.dtype)) return ShapeError(q, "indices must be integers");
  if (a.index_vector_dim < 0 || a.index_vector_dim > indices.rank())
    return ShapeError(q, "index_vector_dim ", a.index_vector_dim, " is out of range");
  std::vector<int64_t> batch = indices.dims;
  int64_t vector_extent = 1;
  if (a.index_vector_dim < indices.rank()) {
    vector_extent = batch[static_cast<size_t>(a.index_vector_dim)];
    batch.erase(batch.begin() + a.index_vector_dim);
  }
  if (static_cast<int64_t>(a.index_map.size()) != vector_extent ||
      !AreDistinctDimensions(a.index_map, operand.rank()))
    return ShapeError(q, "index map ", ListText(a.index_map), " must name ", vector_extent,
                      " distinct operand dimensions");
  std::vector<int64_t> taken = a.inserted;
  taken.insert(taken.end(), a.operand_batching.begin(), a.operand_batching.end());
  if (!AreDistinctDimensions(taken, operand.rank()) || !std::ranges::is_sorted(a.inserted))
    return ShapeError(q, "dimensions without a window ", ListText(taken),
                      " must be distinct operand dimensions in increasing order");
  if (a.operand_batching.size() != a.indices_batching.size() ||
      !AreDistinctDimensions(a.indices_batching, indices.rank()) ||
      Contains(a.indices_batching, a.index_vector_dim))
    return ShapeError(q, "batching dimensions of operand ", ListText(a.operand_batching),
                      " and indices ", ListText(a.indices_batching), " must pair up");
  for (size_t i = 0; i < a.operand_batching.size(); ++i) {
    const int64_t of_operand = operand.dims[static_cast<size_t>(a.operand_batching[i])];
    const int64_t of_indices = indices.dims[static_cast<size_t>(a.indices_batching[i])];
    if (of_operand != of_indices || Contains(a.index_map, a.operand_batching[i]))
      return ShapeError(q, "batching dimension ", a.operand_batching[i],
                        " must have equal extents and no index");
  }
  return batch;
}

StatusOr<Shape> InferGather(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const GatherDimensions& g = q.attributes.gather;
  const Addressing addressing{g.start_index_map, g.collapsed_slice_dims, g.operand_batching_dims,
                              g.start_indices_batching_dims, g.index_vector_dim};
  NEURON_ASSIGN_OR_RETURN(const std::vector<int64_t> batch,
                          CheckAddressing(q, addressing, x, q.operand(1)));
  if (static_cast<int64_t>(g.slice_sizes.size()) != x.rank())
    return ShapeError(q, "needs ", x.rank(), " slice sizes, got ", g.slice_sizes.size());
  std::vector<int64_t> window;
  for (size_t i = 0; i < g.slice_sizes.size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    if (g.slice_sizes[i] < 0 || g.slice_sizes[i] > x.dims[i])
      return ShapeError(q, "slice size ", g.slice_sizes[i], " does not fit dimension ", i);
    const bool gone =
        Contains(g.collapsed_slice_dims, dim) || Contains(g.operand_batching_dims, dim);
    if (gone && g.slice_sizes[i] > 1)
      return ShapeError(q, "collapsed dimension ", i, " must have slice size 0 or 1, has ",
                        g.slice_sizes[i]);
    if (!gone) window.push_back(g.slice_sizes[i]);
  }
  const auto rank = static_cast<int64_t>(window.size() + batch.size());
  if (g.offset_dims.size() != window.size() || !std::ranges::is_sorted(g.offset_dims) ||
      !AreDistinctDimensions(g.offset_dims, rank))
    return ShapeError(q, "offset_dims ", ListText(g.offset_dims), " must be ", window.size(),
                      " increasing dimensions of a result of rank ", rank);
  std::vector<int64_t> dims;
  size_t next_window = 0, next_batch = 0;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(Contains(g.offset_dims, d) ? window[next_window++] : batch[next_batch++]);
  return Shape::Array(x.dtype, std::move(dims));
}

Status CheckScatterUpdates(const ShapeQuery& q, const Shape& x, const Shape& updates,
                           const std::vector<int64_t>& batch) {
  const ScatterDimensions& s = q.attributes.scatter;
  std::vector<int64_t> bounds;  // of the window, per operand dimension that has one
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!Contains(s.inserted_window_dims, d) && !Contains(s.input_batching_dims, d))
      bounds.push_back(x.dims[static_cast<size_t>(d)]);
  if (s.update_window_dims.size() != bounds.size() ||
      !std::ranges::is_sorted(s.update_window_dims) ||
      !AreDistinctDimensions(s.update_window_dims, updates.rank()) ||
      updates.dims.size() != bounds.size() + batch.size())
    return ShapeError(q, "update_window_dims ", ListText(s.update_window_dims), " must be ",
                      bounds.size(), " increasing dimensions of updates of rank ",
                      bounds.size() + batch.size());
  size_t next_window = 0, next_batch = 0;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    const int64_t extent = updates.dims[static_cast<size_t>(d)];
    if (Contains(s.update_window_dims, d)) {
      if (extent > bounds[next_window++])
        return ShapeError(q, "update dimension ", d, " exceeds the operand's window");
    } else if (extent != batch[next_batch++]) {
      return ShapeError(q, "update dimension ", d, " has extent ", extent, ", the indices ",
                        batch[next_batch - 1]);
    }
  }
  return OkStatus();
}

StatusOr<Shape> InferScatter(const ShapeQuery& q) {
  if (q.operands.size() % 2 == 0 || q.operands.size() < 3 || q.called.size() != 1)
    return ShapeError(q, "needs n operands, indices, n updates and one combiner");
  const size_t n = q.operands.size() / 2;
  const Shape& indices = q.operand(n);
  const ScatterDimensions& s = q.attributes.scatter;
  const Addressing addressing{s.scatter_dims_to_operand_dims, s.inserted_window_dims,
                              s.input_batching_dims, s.scatter_indices_batching_dims,
                              s.index_vector_dim};
  for (size_t i = 0; i < n; ++i) {
    const Shape& x = q.operand(i);
    const Shape& updates = q.operand(n + 1 + i);
    if (!SameDims(x, q.operand(0)) || x.dtype != updates.dtype)
      return ShapeError(q, "operands must have equal extents and their updates' element type");
    NEURON_ASSIGN_OR_RETURN(const std::vector<int64_t> batch,
                            CheckAddressing(q, addressing, x, indices));
    NEURON_RETURN_IF_ERROR(CheckScatterUpdates(q, x, updates, batch));
  }
  NEURON_RETURN_IF_ERROR(CheckCombiner(q, q.called[0], q.operands.first(n)));
  if (n == 1) return q.operand(0);
  return Shape::Tuple({q.operands.begin(), q.operands.begin() + static_cast<std::ptrdiff_t>(n)});
}

}  // namespace

StatusOr<Shape> InferIndexingShape(const ShapeQuery& q) {
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  switch (q.opcode) {
    case Opcode::kDynamicSlice:
      return InferDynamicSlice(q);
    case Opcode::kDynamicUpdateSlice:
      return InferDynamicUpdateSlice(q);
    case Opcode::kGather:
      return InferGather(q);
    default:
      return InferScatter(q);
  }
}

}  // namespace neuron::hlo
