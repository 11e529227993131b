// A dot in the terms of the Tensor engine: out[rows, columns] += stationary[k, rows]^T *
// moving[k, columns], for every index of the other result dimensions.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// One operand: strides (elements of view.dtype) per dimension of the result's domain, 0 where it
// does not vary, and per contraction dimension.
struct DotOperand {
  View view;
  Dims domain, k;
};

struct DotProblem {
  Dims domain;  // of the result: batch, lhs and rhs dimensions, joined where possible
  Dims k;       // contraction extents, joined where possible; the last is tiled
  DotOperand stationary, moving;
  int row = 0;     // domain dimension on PSUM partitions, of the stationary operand
  int column = 0;  // domain dimension along PSUM's free axis, of the moving operand
  int64_t rows() const { return domain[static_cast<size_t>(row)]; }
  int64_t columns() const { return domain[static_cast<size_t>(column)]; }
};

StatusOr<DotProblem> MakeDotProblem(EmitContext& ctx, const Kernel& kernel);

// True if the Tensor engine computes the dot; otherwise the numbers are wide or integers.
bool IsTensorEngineDot(const hlo::Instruction& dot);

}  // namespace neuron::compiler
