// Ops that apply a called scalar computation: reductions, windows, sort, map.
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

Shape OneOrTuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}

// n arrays of equal extents, then n scalar initial values of their types, and one combiner.
StatusOr<size_t> CheckReduced(const ShapeQuery& q) {
  if (q.operands.empty() || q.operands.size() % 2 != 0 || q.called.size() != 1)
    return ShapeError(q, "needs n operands, n initial values and one combiner");
  const size_t n = q.operands.size() / 2;
  for (size_t i = 0; i < n; ++i) {
    if (!SameDims(q.operand(i), q.operand(0)))
      return ShapeError(q, "operands must have equal extents");
    if (!q.operand(n + i).is_scalar() || q.operand(n + i).dtype != q.operand(i).dtype)
      return ShapeError(q, "initial value ", i, " must be a scalar ",
                        DTypeName(q.operand(i).dtype));
  }
  NEURON_RETURN_IF_ERROR(CheckCombiner(q, q.called[0], q.operands.first(n)));
  return n;
}

StatusOr<Shape> InferReduce(const ShapeQuery& q) {
  NEURON_ASSIGN_OR_RETURN(const size_t n, CheckReduced(q));
  const std::vector<int64_t>& dimensions = q.attributes.dimensions;
  const Shape& x = q.operand(0);
  if (!AreDistinctDimensions(dimensions, x.rank()))
    return ShapeError(q, "dimensions ", ListText(dimensions),
                      " must be distinct dimensions of the operand");
  std::vector<bool> reduced(x.dims.size());
  for (const int64_t d : dimensions) reduced[static_cast<size_t>(d)] = true;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < reduced.size(); ++i)
    if (!reduced[i]) dims.push_back(x.dims[i]);
  std::vector<Shape> results;
  for (size_t i = 0; i < n; ++i) results.push_back(Shape::Array(q.operand(i).dtype, dims));
  return OneOrTuple(std::move(results));
}

StatusOr<Shape> InferReduceWindow(const ShapeQuery& q) {
  NEURON_ASSIGN_OR_RETURN(const size_t n, CheckReduced(q));
  NEURON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims,
                          WindowOutputDims(q, q.operand(0).dims, q.attributes.window));
  std::vector<Shape> results;
  for (size_t i = 0; i < n; ++i) results.push_back(Shape::Array(q.operand(i).dtype, dims));
  return OneOrTuple(std::move(results));
}

StatusOr<Shape> InferSelectAndScatter(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const Shape& source = q.operand(1);
  if (q.called.size() != 2) return ShapeError(q, "needs a select and a scatter computation");
  NEURON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims,
                          WindowOutputDims(q, x.dims, q.attributes.window));
  if (source.dtype != x.dtype || source.dims != dims)
    return ShapeError(q, "the source must be ", Shape::Array(x.dtype, dims).ToString());
  if (q.operand(2) != Shape::Array(x.dtype, {}))
    return ShapeError(q, "the initial value must be a scalar ", DTypeName(x.dtype));
  const std::vector<Shape> pair(2, Shape::Array(x.dtype, {}));
  NEURON_ASSIGN_OR_RETURN(const Shape selected, CheckCallee(q, q.called[0], pair));
  if (selected != Shape::Array(DType::kPred, {}))
    return ShapeError(q, "the select computation must return pred[]");
  NEURON_RETURN_IF_ERROR(CheckCombiner(q, q.called[1], q.operands.first(1)));
  return x;
}

StatusOr<Shape> InferSort(const ShapeQuery& q) {
  if (q.operands.empty() || q.called.size() != 1)
    return ShapeError(q, "needs operands and one comparator");
  const std::vector<int64_t>& dimension = q.attributes.dimensions;
  if (dimension.size() != 1 || !AreDistinctDimensions(dimension, q.operand(0).rank()))
    return ShapeError(q, "dimension ", ListText(dimension), " is not one of its dimensions");
  std::vector<Shape> scalars;
  for (const Shape& x : q.operands) {
    if (!SameDims(x, q.operand(0))) return ShapeError(q, "operands must have equal extents");
    scalars.insert(scalars.end(), 2, Shape::Array(x.dtype, {}));
  }
  NEURON_ASSIGN_OR_RETURN(const Shape compared, CheckCallee(q, q.called[0], scalars));
  if (compared != Shape::Array(DType::kPred, {}))
    return ShapeError(q, "the comparator must return pred[], returns ", compared.ToString());
  return OneOrTuple({q.operands.begin(), q.operands.end()});
}

// The k first of each row in order, and their places.
StatusOr<Shape> InferTopK(const ShapeQuery& q) {
  const int64_t k = q.attributes.k;
  if (q.operand(0).rank() == 0 || k < 0 || k > q.operand(0).dims.back())
    return ShapeError(q, "a row does not have k = ", k, " elements");
  Shape values = q.operand(0);
  values.dims.back() = k;
  return Shape::Tuple({values, Shape::Array(DType::kS32, values.dims)});
}

StatusOr<Shape> InferMap(const ShapeQuery& q) {
  if (q.operands.empty() || q.called.size() != 1)
    return ShapeError(q, "needs operands and one computation");
  std::vector<Shape> scalars;
  for (const Shape& x : q.operands) {
    if (!SameDims(x, q.operand(0))) return ShapeError(q, "operands must have equal extents");
    scalars.push_back(Shape::Array(x.dtype, {}));
  }
  NEURON_ASSIGN_OR_RETURN(Shape result, CheckCallee(q, q.called[0], scalars));
  if (!result.is_scalar()) return ShapeError(q, "the computation must return a scalar");
  return Shape::Array(result.dtype, q.operand(0).dims);
}

}  // namespace

StatusOr<std::vector<int64_t>> WindowOutputDims(const ShapeQuery& q,
                                                const std::vector<int64_t>& dims,
                                                const std::vector<WindowDimension>& window) {
  if (window.size() != dims.size())
    return ShapeError(q, "the window has ", window.size(), " dimensions, needed are ", dims.size());
  std::vector<int64_t> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const WindowDimension& w = window[i];
    if (w.size < 1 || w.stride < 1 || w.window_dilation < 1 || w.base_dilation < 1)
      return ShapeError(q, "window dimension ", i, ": size, stride and dilations must be positive");
    const auto base_gaps = CheckedMultiply(dims[i] - 1, w.base_dilation);
    const auto window_gaps = CheckedMultiply(w.size - 1, w.window_dilation);
    int64_t base = 0;
    if (dims[i] > 0 && base_gaps) base = *base_gaps + 1;
    if (!base_gaps || !window_gaps || __builtin_add_overflow(base, w.padding_low, &base) ||
        __builtin_add_overflow(base, w.padding_high, &base) || base < 0)
      return ShapeError(q, "window dimension ", i, " leaves no extent to walk");
    const int64_t room = base - *window_gaps - 1;
    result.push_back(room < 0 ? 0 : room / w.stride + 1);
  }
  return result;
}

StatusOr<Shape> InferReductionShape(const ShapeQuery& q) {
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  switch (q.opcode) {
    case Opcode::kReduce:
      return InferReduce(q);
    case Opcode::kReduceWindow:
      return InferReduceWindow(q);
    case Opcode::kSelectAndScatter:
      return InferSelectAndScatter(q);
    case Opcode::kSort:
      return InferSort(q);
    case Opcode::kTopK:
      return InferTopK(q);
    default:
      return InferMap(q);
  }
}

}  // namespace neuron::hlo
