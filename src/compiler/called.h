// Computations that are called once per pass (loop bodies, branches): which values they leave as
// they are, and how one becomes a module of its own.
//
// A leaf is an array inside a tuple; leaves are numbered in the order of the shape.
#pragma once

#include <vector>

#include "hlo/module.h"

namespace neuron::compiler {

std::vector<hlo::Shape> Leaves(const hlo::Shape& shape);

// Leaves of a loop's state that its body returns computed. The others keep their first values: to
// the loop they are operands, not results.
std::vector<int> ChangedLeaves(const hlo::Computation& body);

// A module whose parameters are the leaves of the one parameter of `called`, and whose results are
// the leaves `results` of its root. It refers to computations of `called`'s module.
hlo::Module Outline(const hlo::Computation& called, const std::vector<int>& results);

}  // namespace neuron::compiler
