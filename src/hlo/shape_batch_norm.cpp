// Batch normalisation: one number per feature beside an array of any rank.
#include "hlo/shape_rules.h"

namespace neuron::hlo {

StatusOr<Shape> InferBatchNormShape(const ShapeQuery& q) {
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  const Shape& x = q.operand(0);
  const int64_t feature = q.attributes.feature_index;
  if (!IsFloating(x.dtype) || feature < 0 || feature >= x.rank())
    return ShapeError(q, "needs floats and a feature_index below ", x.rank(), ", got ", feature);
  const Shape row = Shape::Array(x.dtype, {x.dims[static_cast<size_t>(feature)]});
  const bool gradient = q.opcode == Opcode::kBatchNormGrad;
  for (size_t i = 1; i < q.operands.size(); ++i) {
    const Shape& expected = gradient && i == 4 ? x : row;
    if (q.operand(i) != expected)
      return ShapeError(q, "operand ", i, " must be ", expected.ToString());
  }
  if (q.opcode == Opcode::kBatchNormInference) return x;
  return Shape::Tuple({x, row, row});
}

}  // namespace neuron::hlo
