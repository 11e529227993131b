#include <algorithm>
#include <limits>

#include "hlo/builder.h"

namespace neuron::hlo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool HasInfinity(DType dtype) {
  return IsFloating(dtype) && dtype != DType::kF8E4M3FN && dtype != DType::kF4E2M1FN &&
         dtype != DType::kF8E8M0FNU;
}

// The neutral element of maximum (sign -1) and minimum (sign +1). A double beyond an integer's
// range saturates; a format without infinity has the value named here.
double Extreme(DType dtype, double sign) {
  if (dtype == DType::kF8E4M3FN) return sign * 448;
  if (dtype == DType::kF4E2M1FN) return sign * 6;
  if (IsInteger(dtype) || HasInfinity(dtype)) return sign * kInfinity;
  return sign < 0 ? 0 : 1;  // pred; e8m0 has no zero, its smallest power is what 0 becomes
}

}  // namespace

Value Builder::Reduce(Value x, Value init, const std::vector<int64_t>& dimensions,
                      Computation* combiner) {
  Attributes attributes;
  attributes.dimensions = dimensions;
  std::ranges::sort(attributes.dimensions);
  return Emit(Opcode::kReduce, {x, init}, std::move(attributes), {combiner});
}

std::vector<Value> Builder::ReduceMany(std::span<const Value> xs, std::span<const Value> inits,
                                       const std::vector<int64_t>& dimensions,
                                       Computation* combiner) {
  Attributes attributes;
  attributes.dimensions = dimensions;
  std::ranges::sort(attributes.dimensions);
  std::vector<Value> operands(xs.begin(), xs.end());
  operands.insert(operands.end(), inits.begin(), inits.end());
  const Value result =
      Emit(Opcode::kReduce, std::move(operands), std::move(attributes), {combiner});
  if (!result.valid()) return std::vector<Value>(xs.size());
  return xs.size() == 1 ? std::vector<Value>{result} : Untuple(result);
}

Value Builder::ReduceWith(Opcode opcode, Value x, double init,
                          const std::vector<int64_t>& dimensions) {
  const Value start = Constant(x.dtype(), init);  // before the combiner: ids must not depend on
  Computation* const combiner = Combiner(opcode, x.dtype());  // the order of arguments
  return Reduce(x, start, dimensions, combiner);
}
Value Builder::ReduceSum(Value x, const std::vector<int64_t>& dimensions) {
  return ReduceWith(Opcode::kAdd, x, 0, dimensions);
}
Value Builder::ReduceProduct(Value x, const std::vector<int64_t>& dimensions) {
  return ReduceWith(Opcode::kMultiply, x, 1, dimensions);
}
Value Builder::ReduceMax(Value x, const std::vector<int64_t>& dimensions) {
  return ReduceWith(Opcode::kMaximum, x, Extreme(x.dtype(), -1), dimensions);
}
Value Builder::ReduceMin(Value x, const std::vector<int64_t>& dimensions) {
  return ReduceWith(Opcode::kMinimum, x, Extreme(x.dtype(), 1), dimensions);
}
Value Builder::ReduceAnd(Value x, const std::vector<int64_t>& dimensions) {
  return ReduceWith(Opcode::kAnd, x, 1, dimensions);
}
Value Builder::ReduceOr(Value x, const std::vector<int64_t>& dimensions) {
  return ReduceWith(Opcode::kOr, x, 0, dimensions);
}

Value Builder::ReduceWindow(Value x, Value init, const std::vector<WindowDimension>& window,
                            Computation* combiner) {
  Attributes attributes;
  attributes.window = window;
  return Emit(Opcode::kReduceWindow, {x, init}, std::move(attributes), {combiner});
}

Value Builder::SelectAndScatter(Value x, Value source, Value init,
                                const std::vector<WindowDimension>& window, Computation* select,
                                Computation* scatter) {
  Attributes attributes;
  attributes.window = window;
  return Emit(Opcode::kSelectAndScatter, {x, source, init}, std::move(attributes),
              {select, scatter});
}

Value Builder::Dot(Value a, Value b, const DotDimensions& dims, DType result) {
  Attributes attributes;
  attributes.dot = dims;
  const Shape stated = Shape::Array(result, {});
  return Emit(Opcode::kDot, {a, b}, std::move(attributes), {},
              result == DType::kInvalid ? nullptr : &stated);
}

Value Builder::Convolution(Value x, Value kernel, const std::vector<WindowDimension>& window,
                           const ConvolutionDimensions& dims, int64_t feature_group_count,
                           int64_t batch_group_count, DType result) {
  Attributes attributes;
  attributes.window = window;
  attributes.convolution = dims;
  attributes.feature_group_count = feature_group_count;
  attributes.batch_group_count = batch_group_count;
  const Shape stated = Shape::Array(result, {});
  return Emit(Opcode::kConvolution, {x, kernel}, std::move(attributes), {},
              result == DType::kInvalid ? nullptr : &stated);
}

std::vector<Value> Builder::Sort(std::span<const Value> xs, int64_t dimension, bool stable,
                                 Computation* comparator) {
  Attributes attributes;
  attributes.dimensions = {dimension};
  attributes.is_stable = stable;
  const Value result =
      Emit(Opcode::kSort, {xs.begin(), xs.end()}, std::move(attributes), {comparator});
  if (!result.valid()) return std::vector<Value>(xs.size());
  return xs.size() == 1 ? std::vector<Value>{result} : Untuple(result);
}

}  // namespace neuron::hlo
