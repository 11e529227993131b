// Where the results of a call go: new tensors as PyTorch's meta kernels describe them, or memory of
// the call's own tensors, directly or by a copy.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lowering/args.h"
#include "torch/meta.h"
#include "torch/plan.h"
#include "torch/plan_operands.h"

namespace neuron::pytorch {

class PlanResults {
 public:
  // `all_lengths`: sizes are written in hlo::kExtent, of a plan for all lengths.
  PlanResults(const OpEntry& entry, hlo::Builder& b, PlanOperands& operands,
              const std::optional<MetaResult>& meta, bool all_lengths)
      : entry_(entry), b_(b), operands_(operands), meta_(meta), all_lengths_(all_lengths) {}

  // `values`: of the row; first those that are returned, then those that go into arguments.
  Status Place(const lowering::Values& values, std::vector<lowering::CountedResult> counted);
  void Add(hlo::Value value, PlanResult result);

  const std::vector<PlanResult>& results() const { return results_; }
  size_t returned() const { return returned_; }
  bool has_counted() const { return !counted_.empty(); }
  // What the program computes, and which result each is.
  const std::vector<hlo::Value>& roots() const { return roots_; }
  int result_of_root(int64_t root) const { return root_result_[static_cast<size_t>(root)]; }
  // Pairs of root and parameter that are one buffer.
  const std::vector<std::pair<int64_t, int64_t>>& aliases() const { return aliases_; }

 private:
  int CountedDimension(size_t result) const;
  Status PlaceNew(hlo::Value value, size_t index);
  Status PlaceInto(hlo::Value value, size_t index);
  void PlaceCounted(hlo::Value value, int dimension, int operand);
  void Alias(int64_t parameter) {
    aliases_.emplace_back(static_cast<int64_t>(roots_.size()), parameter);
  }

  const OpEntry& entry_;
  hlo::Builder& b_;
  PlanOperands& operands_;
  const std::optional<MetaResult>& meta_;
  const bool all_lengths_;
  std::vector<lowering::CountedResult> counted_;
  std::vector<PlanResult> results_;
  size_t returned_ = 0;
  std::vector<hlo::Value> roots_;
  std::vector<int> root_result_;
  std::vector<std::pair<int64_t, int64_t>> aliases_;
};

}  // namespace neuron::pytorch
