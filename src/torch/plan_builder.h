// From a call to its plan: the row is lowered to a module, compiled, and the program's buffers are
// bound to where the call has them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hlo/builder.h"
#include "torch/meta.h"
#include "torch/plan.h"
#include "torch/plan_operands.h"
#include "torch/plan_results.h"

namespace neuron::pytorch {

class PlanBuilder {
 public:
  // `assumed`: empty, or sizes of the device tensors to build for instead of their own.
  PlanBuilder(OpEntry& entry, const c10::OperatorHandle& op, std::span<const c10::IValue> arguments,
              const Call& call, std::span<const AssumedSizes> assumed = {});

  // Meta kernels, many of them Python's, word a refusal in their own way and class. CPU's counts.
  std::unique_ptr<Plan> Build();

  // The module for the assumed sizes, of a row whose results' sizes no data decide.
  StatusOr<hlo::Module> BuildModuleForSizes();

  // After BuildModuleForSizes with sizes in kExtent: the plan of `module`, where those constants
  // have become parameters.
  StatusOr<std::unique_ptr<Plan>> CompileForAllLengths(hlo::Module module,
                                                       std::span<const ExtentConstant> constants,
                                                       const ExtentKey& extent, int64_t bound);

 private:
  std::unique_ptr<Plan> BuildChecked();
  std::unique_ptr<Plan> Refuse(std::string why, bool wrong_arguments = false);
  std::unique_ptr<Plan> RefuseProgram(const Status& status);
  std::string TensorsInWords() const;
  bool DependsOnData() const;
  DType NumberDtype() const;
  void CheckConstants() const;
  Status Lower();
  StatusOr<hlo::Module> BuildModule();
  Status Compile(const hlo::Module& module);
  void Bind(const compiler::Signature& signature);
  int64_t CallPosition(int64_t row_position) const;

  OpEntry& entry_;
  const c10::OperatorHandle& op_;
  std::span<const c10::IValue> arguments_;
  const Call& call_;
  const std::span<const AssumedSizes> assumed_;
  hlo::Builder b_;
  std::unique_ptr<Plan> plan_ = std::make_unique<Plan>();
  std::optional<MetaResult> meta_;
  PlanOperands operands_;
  PlanResults results_;
  std::vector<lowering::ScalarParameter> scalar_parameters_;
  std::vector<PlanScalar> extent_scalars_;
  int64_t philox_parameter_ = -1;
  int64_t num_parameters_ = 0;
};

}  // namespace neuron::pytorch
