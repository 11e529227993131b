#include "compiler/expand.h"

#include <vector>

namespace neuron::compiler {
namespace {

constexpr std::span<const Expansion> (*kFamilies[])() = {BatchNormExpansions, CollectiveExpansions,
                                                         ContractionExpansions, PrecisionExpansions,
                                                         ReductionExpansions};

const Expansion* RowFor(const hlo::Instruction& x) {
  for (const auto family : kFamilies)
    for (const Expansion& row : family())
      if (row.opcode == x.opcode() && row.applies(x)) return &row;
  return nullptr;
}

bool NeedsExpansion(const hlo::Module& module) {
  if (HasTupleParameters(module)) return true;
  for (const auto& computation : module.computations())
    for (const auto& x : computation->instructions())
      if (RowFor(*x) != nullptr) return true;
  return false;
}

StatusOr<bool> ExpandOnce(hlo::Computation& computation) {
  std::vector<hlo::Instruction*> before;
  for (const auto& x : computation.instructions()) before.push_back(x.get());
  hlo::Builder b = hlo::Builder::Into(&computation);
  bool changed = false;
  for (hlo::Instruction* x : before) {
    const Expansion* row = RowFor(*x);
    if (row == nullptr) continue;
    b.SetMetadata(x->metadata());
    const hlo::Value value = row->expand(b, *x);
    if (!b.status().ok()) return b.status().WithPrefix(x->name() + ": ");
    NEURON_CHECK(value.shape() == x->shape(), "expansion of ", x->name(), " has shape ",
                 value.shape().ToString(), " instead of ", x->shape().ToString());
    computation.ReplaceAllUses(x, value.instruction());
    changed = true;
  }
  if (changed) {
    computation.SortTopologically();
    computation.RemoveDead();
  }
  return changed;
}

}  // namespace

StatusOr<std::optional<hlo::Module>> Expand(const hlo::Module& module) {
  if (!NeedsExpansion(module)) return std::optional<hlo::Module>();
  hlo::Module expanded = module.Clone();
  if (HasTupleParameters(expanded)) TakeParametersApart(expanded);
  constexpr int kMostRounds = 8;  // rows follow each other a few times at most
  for (bool again = true; again;) {
    again = false;
    std::vector<hlo::Computation*> computations;  // rows may add some
    for (const auto& computation : expanded.computations())
      computations.push_back(computation.get());
    for (hlo::Computation* computation : computations) {
      int rounds = 0;
      bool changed = true;
      while (changed) {
        NEURON_CHECK(rounds++ < kMostRounds, "expansions of ", computation->name(), " do not end");
        NEURON_ASSIGN_OR_RETURN(changed, ExpandOnce(*computation));
      }
    }
    again = expanded.computations().size() != computations.size();
  }
  return std::optional<hlo::Module>(std::move(expanded));
}

}  // namespace neuron::compiler
