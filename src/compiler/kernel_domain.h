// The iteration domain of a kernel under construction: how values lie on it, and how it is split so
// that one more does.
#pragma once

#include <optional>
#include <vector>

#include "compiler/kernel_plan.h"

namespace neuron::compiler {

// Row-major strides of a member's dense value over the domain.
std::optional<Dims> NaturalStrides(const hlo::Shape& shape, const Kernel& k);
// Strides of an operand's view over the domain; the class is that of its own shape.
std::optional<Dims> OperandStrides(const View& view, const Kernel& k);
// Splits the domain so that a value of `dims` lies on it; `reduced`: of which dimensions a reduce
// makes rows. False, with `k` in any state, if it cannot.
bool RefineDomain(Kernel& k, const Dims& dims, const std::vector<bool>* reduced);
// Elements of a row.
int64_t ReducedElements(const Kernel& kernel);

}  // namespace neuron::compiler
