// LiveValues: the instructions that the root of a computation needs. Dead ones may stand between
// them.
#pragma once

#include <vector>

#include "hlo/module.h"

namespace neuron::compiler {

struct LiveValues {
  const hlo::Instruction* root = nullptr;
  std::vector<bool> live;  // by instruction id

  explicit LiveValues(const hlo::Computation& computation);
  bool Contains(const hlo::Instruction& x) const { return live[static_cast<size_t>(x.id())]; }
};

}  // namespace neuron::compiler
