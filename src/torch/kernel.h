// One registered overload at work: arguments to plan to launch, however the dispatcher calls.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "torch/data_dependent.h"
#include "torch/op_entry.h"
#include "torch/plan.h"
#include "torch/value_checks.h"

namespace neuron::pytorch {

class Kernel {
 public:
  explicit Kernel(std::unique_ptr<OpEntry> entry);

  const OpEntry& entry() const { return *entry_; }
  // Which argument each return of the schema is, or -1 for a new tensor.
  const std::vector<int>& returns() const { return returns_; }
  bool returns_list() const { return returns_list_; }
  // Whether all that a call does with its arguments is to read them.
  bool leaves_arguments() const { return prepare_ == nullptr && !indices_.has_value(); }

  // Runs the op; new results are appended to `fresh`. Returns the plan: if it has a fallback
  // reason, nothing was done, and the CPU is to compute. Arguments may be replaced by copies on
  // the device.
  const Plan& Run(std::span<c10::IValue> arguments, c10::SmallVectorImpl<at::Tensor>& fresh);
  // The call as the dispatcher boxes it: arguments on the stack become results.
  void RunBoxed(torch::jit::Stack* stack);

 private:
  std::unique_ptr<OpEntry> entry_;
  std::vector<int> returns_;
  ValueCheck check_;
  Preparation prepare_;
  std::optional<size_t> indices_;  // a list of index tensors, which may be on the CPU
  bool returns_list_ = false;
};

}  // namespace neuron::pytorch
