// Inside of shape inference: one function per family of opcodes. Callers have checked the number
// of operands against the opcode's arity.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "hlo/module.h"

namespace neuron::hlo {

struct ShapeQuery {
  Opcode opcode;
  std::span<const Shape> operands;
  const Attributes& attributes;
  std::span<Computation* const> called;
  const Shape* stated;

  const Shape& operand(size_t i) const { return operands[i]; }
};

StatusOr<Shape> InferElementwiseShape(const ShapeQuery& q);  // unary, binary, compare, select, ...
StatusOr<Shape> InferConversionShape(const ShapeQuery& q);   // convert, bitcast-convert, complex
StatusOr<Shape> InferMovementShape(const ShapeQuery& q);     // broadcast ... concatenate
StatusOr<Shape> InferIndexingShape(const ShapeQuery& q);     // dynamic slices, gather, scatter
StatusOr<Shape> InferReductionShape(const ShapeQuery& q);    // reduce, reduce-window, sort, map
StatusOr<Shape> InferContractionShape(const ShapeQuery& q);  // dot, convolution
StatusOr<Shape> InferLinalgShape(const ShapeQuery& q);       // fft, triangular-solve, cholesky
StatusOr<Shape> InferCollectiveShape(const ShapeQuery& q);   // shape_collective.cpp
StatusOr<Shape> InferBatchNormShape(const ShapeQuery& q);    // shape_batch_norm.cpp
StatusOr<Shape> InferStructureShape(const ShapeQuery& q);    // tuple, while, call

// "add(f32[2], f32[3]): " followed by the parts.
template <typename... Parts>
Status ShapeError(const ShapeQuery& q, const Parts&... parts) {
  std::string call(OpcodeName(q.opcode));
  call += "(";
  for (size_t i = 0; i < q.operands.size(); ++i)
    call += (i == 0 ? "" : ", ") + q.operands[i].ToString();
  return InvalidArgument(call, "): ", parts...);
}

std::string ListText(const std::vector<int64_t>& values);  // "{0,2}"

bool SameDims(const Shape& a, const Shape& b);  // extents only
// Distinct and in [0, rank).
bool AreDistinctDimensions(const std::vector<int64_t>& dimensions, int64_t rank);
// First operand that is no array, if any.
Status CheckArrays(const ShapeQuery& q);
// a * b, or nullopt beyond int64.
std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b);
std::optional<int64_t> CheckedElements(const std::vector<int64_t>& dims);

// The shape that a window walks out of `dims`; kernel extents are the window's.
StatusOr<std::vector<int64_t>> WindowOutputDims(const ShapeQuery& q,
                                                const std::vector<int64_t>& dims,
                                                const std::vector<WindowDimension>& window);

// The callee takes exactly `parameters`; returns its root's shape.
StatusOr<Shape> CheckCallee(const ShapeQuery& q, const Computation* callee,
                            std::span<const Shape> parameters);
// The usual combiner of n values: 2n scalars of these dtypes in, n out (a tuple if n > 1).
Status CheckCombiner(const ShapeQuery& q, const Computation* combiner,
                     std::span<const Shape> values);

}  // namespace neuron::hlo
