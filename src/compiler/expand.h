// The pass before the first: instructions that no kernel computes, said with those that some do.
//
// A row names an opcode, the instructions of it that are meant, and what they become, written with
// hlo::Builder. Rows see every computation (loop bodies and branches too) and may make instructions
// that other rows take further. Most modules have nothing for them: then no copy is made.
#pragma once

#include <optional>

#include "hlo/builder.h"

namespace neuron::compiler {

struct Expansion {
  hlo::Opcode opcode;
  bool (*applies)(const hlo::Instruction& x);
  // A value of x's shape; the builder appends to x's computation.
  hlo::Value (*expand)(hlo::Builder& b, const hlo::Instruction& x);
};

// The expanded module, or nothing if `module` can stay as it is.
StatusOr<std::optional<hlo::Module>> Expand(const hlo::Module& module);

// Parameters of the entry that are tuples become their leaves: a parameter each, in order.
void TakeParametersApart(hlo::Module& module);  // expand_parameters.cpp
bool HasTupleParameters(const hlo::Module& module);

// Rows, by family.
std::span<const Expansion> BatchNormExpansions();    // expand_batch_norm.cpp
std::span<const Expansion> CollectiveExpansions();   // expand_collective.cpp
std::span<const Expansion> ContractionExpansions();  // expand_contraction.cpp
std::span<const Expansion> PrecisionExpansions();    // expand_precision.cpp
std::span<const Expansion> ReductionExpansions();    // expand_reduction.cpp

}  // namespace neuron::compiler
