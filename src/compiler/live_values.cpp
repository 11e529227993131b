#include "compiler/live_values.h"

#include <algorithm>

namespace neuron::compiler {

LiveValues::LiveValues(const hlo::Computation& computation) : root(computation.root()) {
  const auto& all = computation.instructions();
  int64_t ids = 0;
  for (const auto& x : all) ids = std::max(ids, x->id() + 1);
  live.assign(static_cast<size_t>(ids), false);
  live[static_cast<size_t>(root->id())] = true;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (!Contains(**it)) continue;
    for (const hlo::Instruction* operand : (*it)->operands())
      live[static_cast<size_t>(operand->id())] = true;
  }
}

}  // namespace neuron::compiler
