#include "lowering/index_math.h"

namespace neuron::lowering {

using hlo::Builder;
using hlo::Shape;
using hlo::Value;

Expr CheckedIndex(Args& args, Expr index, int64_t extent, int32_t operand, bool wraps) {
  const Expr i = index.As(DType::kS32);
  const Expr low = i < i.LikeInt(wraps ? -extent : 0);
  const Expr high = i >= i.LikeInt(extent);
  args.Report(DataError::kIndexOutOfRange, operand, low || high, i);
  const Expr wrapped = wraps ? Select(i < 0.0, i + i.LikeInt(extent), i) : i;
  return Minimum(Maximum(wrapped, 0.0), wrapped.LikeInt(std::max<int64_t>(extent - 1, 0)));
}

Expr TakeAlong(Expr x, int64_t dim, Expr index) {
  Builder& b = x.builder();
  hlo::GatherDimensions dims;
  dims.collapsed_slice_dims = {dim};
  dims.start_index_map = {dim};
  dims.index_vector_dim = index.rank();
  dims.slice_sizes = x.dims();
  dims.slice_sizes[static_cast<size_t>(dim)] = 1;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d < dim) dims.offset_dims.push_back(d);
    if (d > dim) dims.offset_dims.push_back(d - 1 + index.rank());
  }
  return {b, b.Gather(x, index, dims)};
}

Expr ScatterAlong(Expr x, int64_t dim, Expr index, Expr updates, ScatterMode mode) {
  Builder& b = x.builder();
  hlo::ScatterDimensions dims;
  dims.inserted_window_dims = {dim};
  dims.scatter_dims_to_operand_dims = {dim};
  dims.index_vector_dim = index.rank();
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d < dim) dims.update_window_dims.push_back(d);
    if (d > dim) dims.update_window_dims.push_back(d - 1 + index.rank());
  }
  const auto combiner = [&]() -> hlo::Computation* {
    switch (mode) {
      case ScatterMode::kAdd:
        return b.Combiner(x.dtype() == DType::kPred ? hlo::Opcode::kOr : hlo::Opcode::kAdd,
                          x.dtype());
      case ScatterMode::kMultiply:
        return b.Combiner(x.dtype() == DType::kPred ? hlo::Opcode::kAnd : hlo::Opcode::kMultiply,
                          x.dtype());
      case ScatterMode::kMaximum:
        return b.Combiner(hlo::Opcode::kMaximum, x.dtype());
      case ScatterMode::kMinimum:
        return b.Combiner(hlo::Opcode::kMinimum, x.dtype());
      case ScatterMode::kReplace:
        break;
    }
    const Shape scalar = Shape::Array(x.dtype(), {});
    return b.SubComputation("replace", {scalar, scalar},
                            [](Builder&, std::span<const Value> p) { return p[1]; });
  };
  return {b, b.Scatter(x, index, updates, dims, combiner())};
}

}  // namespace neuron::lowering
