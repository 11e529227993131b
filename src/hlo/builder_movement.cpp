#include "hlo/builder.h"

namespace neuron::hlo {

Value Builder::Broadcast(Value x, const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& broadcast_dimensions) {
  if (x.valid() && broadcast_dimensions.size() == dims.size() && x.shape().dims == dims) return x;
  Attributes attributes;
  attributes.dimensions = broadcast_dimensions;
  const Shape shape = Shape::Array(x.dtype(), dims);
  return Emit(Opcode::kBroadcast, {x}, std::move(attributes), {}, &shape);
}

Value Builder::BroadcastTo(Value x, const std::vector<int64_t>& dims) {
  if (x.valid() && x.shape().dims == dims) return x;
  const int64_t rank = x.rank(), to_rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> kept, map;  // extents without the stretched ones, and where they go
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t to = to_rank - rank + i;
    if (to >= 0 && x.dim(i) == 1 && dims[static_cast<size_t>(to)] != 1) continue;
    if (to < 0 || x.dim(i) != dims[static_cast<size_t>(to)]) {
      Fail(InvalidArgument("broadcast: ", x.shape().ToString(), " does not stretch to ",
                           Shape::Array(x.dtype(), dims).ToString()));
      return {};
    }
    kept.push_back(x.dim(i));
    map.push_back(to);
  }
  return Broadcast(Reshape(x, kept), dims, map);
}

Value Builder::Reshape(Value x, const std::vector<int64_t>& dims) {
  if (x.valid() && x.shape().dims == dims) return x;
  const Shape shape = Shape::Array(x.dtype(), dims);
  return Emit(Opcode::kReshape, {x}, {}, {}, &shape);
}

Value Builder::Transpose(Value x, const std::vector<int64_t>& permutation) {
  bool identity = x.valid() && static_cast<int64_t>(permutation.size()) == x.rank();
  for (size_t i = 0; identity && i < permutation.size(); ++i)
    identity = permutation[i] == static_cast<int64_t>(i);
  if (identity) return x;
  Attributes attributes;
  attributes.dimensions = permutation;
  return Emit(Opcode::kTranspose, {x}, std::move(attributes));
}

Value Builder::Reverse(Value x, const std::vector<int64_t>& dimensions) {
  if (x.valid() && dimensions.empty()) return x;
  Attributes attributes;
  attributes.dimensions = dimensions;
  return Emit(Opcode::kReverse, {x}, std::move(attributes));
}

Value Builder::Slice(Value x, const std::vector<int64_t>& starts,
                     const std::vector<int64_t>& limits, const std::vector<int64_t>& strides) {
  Attributes attributes;
  attributes.slice_starts = starts;
  attributes.slice_limits = limits;
  attributes.slice_strides = strides;
  return Emit(Opcode::kSlice, {x}, std::move(attributes));
}

Value Builder::SliceInDim(Value x, int64_t start, int64_t limit, int64_t stride,
                          int64_t dimension) {
  const auto d = static_cast<size_t>(dimension < 0 ? dimension + x.rank() : dimension);
  std::vector<int64_t> starts(x.shape().dims.size(), 0), limits = x.shape().dims,
                                                         strides(x.shape().dims.size(), 1);
  if (d >= limits.size()) {
    Fail(InvalidArgument("slice: ", x.shape().ToString(), " has no dimension ", dimension));
    return {};
  }
  starts[d] = start;
  limits[d] = limit;
  strides[d] = stride;
  return Slice(x, starts, limits, strides);
}

Value Builder::Pad(Value x, Value value, const std::vector<PaddingDimension>& padding) {
  Attributes attributes;
  attributes.padding = padding;
  return Emit(Opcode::kPad, {x, value}, std::move(attributes));
}

Value Builder::Concatenate(std::span<const Value> parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  Attributes attributes;
  attributes.dimensions = {dimension};
  return Emit(Opcode::kConcatenate, {parts.begin(), parts.end()}, std::move(attributes));
}

Value Builder::DynamicSlice(Value x, std::span<const Value> starts,
                            const std::vector<int64_t>& sizes) {
  Attributes attributes;
  attributes.dynamic_slice_sizes = sizes;
  std::vector<Value> operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Emit(Opcode::kDynamicSlice, std::move(operands), std::move(attributes));
}

Value Builder::DynamicUpdateSlice(Value x, Value update, std::span<const Value> starts) {
  std::vector<Value> operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Emit(Opcode::kDynamicUpdateSlice, std::move(operands));
}

Value Builder::Gather(Value operand, Value indices, const GatherDimensions& dims) {
  Attributes attributes;
  attributes.gather = dims;
  return Emit(Opcode::kGather, {operand, indices}, std::move(attributes));
}

Value Builder::Scatter(Value operand, Value indices, Value updates, const ScatterDimensions& dims,
                       Computation* combiner) {
  Attributes attributes;
  attributes.scatter = dims;
  return Emit(Opcode::kScatter, {operand, indices, updates}, std::move(attributes), {combiner});
}

}  // namespace neuron::hlo
