// The sum of values that are zero where the other is not: select_backward pads each part of a
// tensor with zeros, and the parts are added. Their sum is one concatenation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/canonical_builder.h"

namespace neuron::compiler {

struct FlatPiece {
  hlo::Instruction* value = nullptr;  // nullptr: zeros
  int64_t elements = 0;
};

// The sum's elements in row-major order; nullopt if a and b are no reshaped concatenations
// along their outermost dimension of which one is zero everywhere. Signed zeros are not kept.
std::optional<std::vector<FlatPiece>> DisjointSum(const hlo::Instruction& a,
                                                  const hlo::Instruction& b);
// The pieces one after the other, as a value of `shape`.
hlo::Instruction* Concatenated(CanonicalBuilder& b, const std::vector<FlatPiece>& pieces,
                               const hlo::Shape& shape);

}  // namespace neuron::compiler
