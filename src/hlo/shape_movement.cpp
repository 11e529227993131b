// Movement: which element goes where. No arithmetic, so any element type.
#include <algorithm>

#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

StatusOr<Shape> InferBroadcast(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const std::vector<int64_t>& map = q.attributes.dimensions;
  if (q.stated == nullptr || !q.stated->is_array())
    return ShapeError(q, "the resulting array shape must be stated");
  const Shape& to = *q.stated;
  if (to.dtype != x.dtype)
    return ShapeError(q, "cannot change the element type to ", DTypeName(to.dtype));
  if (static_cast<int64_t>(map.size()) != x.rank() || !std::ranges::is_sorted(map) ||
      !AreDistinctDimensions(map, to.rank()))
    return ShapeError(q, "dimensions ", ListText(map), " must send each of ", x.rank(),
                      " operand dimensions to one of ", to.ToString(), " in increasing order");
  for (size_t i = 0; i < map.size(); ++i)
    if (x.dims[i] != to.dims[static_cast<size_t>(map[i])])
      return ShapeError(q, "operand dimension ", i, " has extent ", x.dims[i], ", dimension ",
                        map[i], " of ", to.ToString(), " another");
  return to;
}

StatusOr<Shape> InferReshape(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  if (q.stated == nullptr || !q.stated->is_array())
    return ShapeError(q, "the resulting array shape must be stated");
  if (q.stated->dtype != x.dtype || CheckedElements(q.stated->dims) != x.num_elements())
    return ShapeError(q, "cannot become ", q.stated->ToString(), ": ", x.num_elements(),
                      " elements of ", DTypeName(x.dtype), " are needed");
  return *q.stated;
}

StatusOr<Shape> InferTranspose(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const std::vector<int64_t>& permutation = q.attributes.dimensions;
  if (static_cast<int64_t>(permutation.size()) != x.rank() ||
      !AreDistinctDimensions(permutation, x.rank()))
    return ShapeError(q, ListText(permutation), " is no permutation of its dimensions");
  Shape result = x;
  for (size_t i = 0; i < permutation.size(); ++i) {
    const auto from = static_cast<size_t>(permutation[i]);
    result.dims[i] = x.dims[from];
    if (!x.dynamic.empty()) result.dynamic[i] = x.dynamic[from];
  }
  return result;
}

StatusOr<Shape> InferSlice(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const Attributes& a = q.attributes;
  const auto rank = static_cast<size_t>(x.rank());
  if (a.slice_starts.size() != rank || a.slice_limits.size() != rank ||
      a.slice_strides.size() != rank)
    return ShapeError(q, "needs ", rank, " starts, limits and strides, got ", a.slice_starts.size(),
                      ", ", a.slice_limits.size(), ", ", a.slice_strides.size());
  Shape result = x;
  result.dynamic.clear();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t start = a.slice_starts[i], limit = a.slice_limits[i], step = a.slice_strides[i];
    if (start < 0 || limit < start || limit > x.dims[i] || step < 1)
      return ShapeError(q, "[", start, ":", limit, ":", step, "] is no slice of dimension ", i,
                        " with extent ", x.dims[i]);
    result.dims[i] = (limit - start) / step + ((limit - start) % step != 0 ? 1 : 0);
  }
  return result;
}

StatusOr<Shape> InferPad(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const Shape& value = q.operand(1);
  const std::vector<PaddingDimension>& padding = q.attributes.padding;
  if (!value.is_scalar() || value.dtype != x.dtype)
    return ShapeError(q, "the padding value must be a scalar ", DTypeName(x.dtype));
  if (static_cast<int64_t>(padding.size()) != x.rank())
    return ShapeError(q, "needs padding for ", x.rank(), " dimensions, got ", padding.size());
  Shape result = x;
  for (size_t i = 0; i < padding.size(); ++i) {
    const PaddingDimension& p = padding[i];
    if (p.interior < 0) return ShapeError(q, "interior padding must not be negative");
    const auto gaps = CheckedMultiply(std::max<int64_t>(x.dims[i] - 1, 0), p.interior);
    int64_t extent = x.dims[i];
    if (!gaps || __builtin_add_overflow(extent, *gaps, &extent) ||
        __builtin_add_overflow(extent, p.low, &extent) ||
        __builtin_add_overflow(extent, p.high, &extent) || extent < 0)
      return ShapeError(q, "padding (", p.low, ", ", p.high, ", ", p.interior,
                        ") leaves no extent for dimension ", i);
    result.dims[i] = extent;
  }
  return result;
}

StatusOr<Shape> InferConcatenate(const ShapeQuery& q) {
  if (q.operands.empty()) return ShapeError(q, "needs at least one operand");
  const Shape& first = q.operand(0);
  const std::vector<int64_t>& dimension = q.attributes.dimensions;
  if (dimension.size() != 1 || !AreDistinctDimensions(dimension, first.rank()))
    return ShapeError(q, "dimension ", ListText(dimension), " is not one of its dimensions");
  const auto along = static_cast<size_t>(dimension[0]);
  Shape result = first;
  for (size_t n = 1; n < q.operands.size(); ++n) {
    Shape part = q.operand(n);
    if (part.dtype != first.dtype || part.rank() != first.rank())
      return ShapeError(q, "operand ", n, " differs in element type or rank");
    if (__builtin_add_overflow(result.dims[along], part.dims[along], &result.dims[along]))
      return ShapeError(q, "the extents do not add up in 64 bits");
    part.dims[along] = first.dims[along];
    if (!SameDims(part, first))
      return ShapeError(q, "operand ", n, " may differ in dimension ", along, " only");
  }
  return result;
}

StatusOr<Shape> InferDimensionSize(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const std::vector<int64_t>& dimension = q.attributes.dimensions;
  if (dimension.size() != 1 || !AreDistinctDimensions(dimension, x.rank()))
    return ShapeError(q, "dimension ", ListText(dimension), " is not one of its dimensions");
  if (q.opcode == Opcode::kGetDimensionSize) return Shape::Array(DType::kS32, {});
  if (q.operand(1) != Shape::Array(DType::kS32, {})) return ShapeError(q, "the size must be s32[]");
  Shape result = x;
  if (result.dynamic.empty()) result.dynamic.resize(result.dims.size());
  result.dynamic[static_cast<size_t>(dimension[0])] = true;
  return result;
}

}  // namespace

StatusOr<Shape> InferMovementShape(const ShapeQuery& q) {
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  switch (q.opcode) {
    case Opcode::kBroadcast:
      return InferBroadcast(q);
    case Opcode::kReshape:
      return InferReshape(q);
    case Opcode::kTranspose:
      return InferTranspose(q);
    case Opcode::kSlice:
      return InferSlice(q);
    case Opcode::kPad:
      return InferPad(q);
    case Opcode::kConcatenate:
      return InferConcatenate(q);
    case Opcode::kReverse:
      if (!AreDistinctDimensions(q.attributes.dimensions, q.operand(0).rank()))
        return ShapeError(q, "dimensions ", ListText(q.attributes.dimensions),
                          " must be distinct dimensions of the operand");
      return q.operand(0);
    default:
      return InferDimensionSize(q);
  }
}

}  // namespace neuron::hlo
