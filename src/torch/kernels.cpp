#include "torch/kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <map>

#include "torch/fallback.h"
#include "torch/forms.h"
#include "torch/kernel.h"
#include "torch/op_entry.h"
#include "torch/plan.h"
#include "torch/unboxed.h"

namespace neuron::pytorch {
namespace {

using torch::jit::Stack;

std::string DisplayName(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

class BoxedKernel final : public c10::OperatorKernel {
 public:
  explicit BoxedKernel(std::shared_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, Stack* stack) {
    kernel_->RunBoxed(stack);
  }

 private:
  std::shared_ptr<Kernel> kernel_;
};

std::vector<std::string> registered_ops, unregistered_rows;

torch::Library& AtenLibrary() {
  static auto* library = new torch::Library(torch::Library::IMPL, "aten",
                                            c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  return *library;
}

void Register(const DerivedForm& derived, const lowering::Row& row) {
  const std::string name = DisplayName(derived.op.operator_name());
  std::string why;
  if (derived.op.hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) return;  // written by hand
  if (derived.op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
      !derived.op.hasKernelForDispatchKey(c10::DispatchKey::Autograd)) {
    unregistered_rows.push_back(name + ": composite; a kernel here would cut its gradient");
    return;
  }
  std::unique_ptr<OpEntry> entry = MakeEntry(derived.op, row, derived.form, &why);
  if (entry == nullptr) {
    unregistered_rows.push_back(name + ": " + why);
    return;
  }
  registered_ops.push_back(name);
  const auto kernel = std::make_shared<Kernel>(std::move(entry));
  std::optional<torch::CppFunction> unboxed = MakeUnboxed(kernel);
  AtenLibrary().impl(name.substr(sizeof("aten::") - 1).c_str(),
                     unboxed.has_value() ? *std::move(unboxed)
                                         : torch::CppFunction::makeFromBoxedFunctor(
                                               std::make_unique<BoxedKernel>(kernel)));
}

// Copies cross devices: copy.cpp and ATen's own _to_copy do them, with rows for what stays on one.
bool IsHandWritten(std::string_view overload) {
  return overload == "aten::copy" || overload == "aten::_to_copy";
}

OpEntry* CopyEntry() {
  static OpEntry* entry = []() -> OpEntry* {
    const lowering::Row* row = lowering::FindRow("aten::copy");
    const auto op = c10::Dispatcher::singleton().findSchema({"aten::copy_", ""});
    std::string why;
    if (row == nullptr || !op.has_value()) return nullptr;
    return MakeEntry(*op, *row, Form::kInPlace, &why).release();
  }();
  return entry;
}

}  // namespace

void RegisterKernels() {
  for (const lowering::Row& row : lowering::Rows()) {
    if ((row.flags & (lowering::kView | lowering::kGraphOnly)) != 0) continue;
    if (IsHandWritten(row.overload)) continue;
    const std::vector<DerivedForm> forms = FormsOf(row);
    if (forms.empty())
      unregistered_rows.push_back(std::string(row.overload) + ": unknown overload");
    for (const DerivedForm& form : forms) Register(form, row);
  }
  std::ranges::sort(registered_ops);
}

const std::vector<std::string>& RegisteredOps() { return registered_ops; }
const std::vector<std::string>& UnregisteredRows() { return unregistered_rows; }

bool CopyByPlan(const at::Tensor& to, const at::Tensor& from) {
  OpEntry* entry = CopyEntry();
  if (entry == nullptr) {
    NoteFallback("aten::copy_");
    return false;
  }
  const c10::IValue arguments[] = {to, from, false};
  Call call;
  Flatten(*entry, arguments, call);
  const Plan* plan = FindOrBuildPlan(*entry, entry->op, arguments, call);
  if (!plan->fallback_reason.empty()) {
    NoteFallback("aten::copy_", plan->fallback_reason);
    return false;
  }
  c10::SmallVector<at::Tensor, 4> none;
  RunPlan(*entry, *plan, arguments, call, none);
  return true;
}

}  // namespace neuron::pytorch
