#include "torch/kernels.h"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <map>

#include "torch/copy.h"
#include "torch/data_dependent.h"
#include "torch/device.h"
#include "torch/fallback.h"
#include "torch/forms.h"
#include "torch/op_entry.h"
#include "torch/plan.h"
#include "torch/storage.h"
#include "torch/value_checks.h"

namespace neuron::pytorch {
namespace {

using torch::jit::Stack;

std::string DisplayName(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

// Which argument each return of the schema is, or -1 for a new tensor.
std::vector<int> ReturnSources(const c10::FunctionSchema& schema) {
  std::vector<int> out;
  for (const c10::Argument& returned : schema.returns()) {
    int source = -1;
    if (returned.alias_info() != nullptr) {
      for (size_t i = 0; i < schema.arguments().size(); ++i) {
        const c10::AliasInfo* info = schema.arguments()[i].alias_info();
        if (info != nullptr && *info == *returned.alias_info()) source = static_cast<int>(i);
      }
    }
    out.push_back(source);
  }
  return out;
}

// A list of indices with those on the CPU moved to `self`'s device, as CUDA takes them.
c10::IValue OnDeviceOf(const c10::IValue& self, const c10::IValue& indices) {
  const auto on_host = [](const c10::IValue& index) {
    return index.isTensor() && index.toTensor().defined() &&
           index.toTensor().device().type() == c10::DeviceType::CPU;
  };
  if (!self.isTensor() || self.toTensor().device().type() != kDeviceType ||
      std::ranges::none_of(indices.toListRef(), on_host))
    return indices;
  c10::List<std::optional<at::Tensor>> moved;
  for (const c10::IValue& index : indices.toListRef()) {
    if (!on_host(index)) {
      moved.push_back(index.toOptional<at::Tensor>());
      continue;
    }
    const at::Tensor& host = index.toTensor();
    const at::Tensor there =
        EmptyContiguous(self.toTensor().device().index(), host.sizes(), host.scalar_type());
    Copy(there, host, false);
    moved.push_back(there);
  }
  return moved;
}

class BoxedKernel final : public c10::OperatorKernel {
 public:
  explicit BoxedKernel(std::unique_ptr<OpEntry> entry)
      : entry_(std::move(entry)),
        returns_(ReturnSources(entry_->op.schema())),
        check_(FindValueCheck(DisplayName(entry_->op.operator_name()))),
        prepare_(FindPreparation(entry_->row->overload)) {
    for (const c10::Argument& returned : entry_->op.schema().returns())
      returns_list_ |= returned.type()->kind() == c10::TypeKind::ListType;
    for (size_t i = 0; i < entry_->args.size(); ++i)
      if (entry_->op.schema().arguments()[i].name() == "indices" &&
          entry_->args[i].kind == ArgKind::kTensorList)
        indices_ = i;
  }

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    const size_t count = entry_->args.size();
    const size_t begin = stack->size() - count;
    c10::SmallVector<at::Tensor, 4> fresh;
    c10::SmallVector<c10::IValue, 4> aliased;
    std::span<const PlanResult> results;
    if (indices_.has_value())
      (*stack)[begin + *indices_] = OnDeviceOf((*stack)[begin], (*stack)[begin + *indices_]);
    {
      std::optional<int64_t> rows;
      if (prepare_ != nullptr) rows = prepare_({stack->data() + begin, count});
      const std::span<const c10::IValue> arguments(stack->data() + begin, count);
      if (check_ != nullptr) check_(arguments);
      Call call;
      Flatten(*entry_, arguments, call);
      if (call.host_scalars_in_lists && !call.unsupported && !call.mixed_devices) [[unlikely]] {
        MoveListScalars(*entry_, {stack->data() + begin, count}, call.device);
        call = Call();
        Flatten(*entry_, arguments, call);
      }
      Plan* plan = FindOrBuildPlan(*entry_, op, arguments, call);
      if (!plan->fallback_reason.empty()) [[unlikely]] {
        FallbackToCpu(op, stack, plan->fallback_reason, plan->wrong_arguments);
        return;
      }
      RunPlan(*entry_, *plan, arguments, call, fresh, rows);
      results = plan->results;
      for (const int source : returns_)
        if (source >= 0) aliased.push_back(arguments[static_cast<size_t>(source)]);
    }
    torch::jit::drop(*stack, count);
    size_t next_fresh = 0, next_aliased = 0, position = 0;
    for (const int source : returns_) {
      if (source >= 0) {
        stack->push_back(std::move(aliased[next_aliased++]));
      } else if (returns_list_) {
        stack->emplace_back(c10::List<at::Tensor>(c10::ArrayRef<at::Tensor>(fresh)));
      } else if (op.schema().returns()[position].type()->kind() == c10::TypeKind::TensorType) {
        stack->emplace_back(std::move(fresh[next_fresh++]));
      } else {
        stack->emplace_back(results[next_fresh++].integer);
      }
      ++position;
    }
  }

 private:
  std::unique_ptr<OpEntry> entry_;
  std::vector<int> returns_;
  ValueCheck check_;
  Preparation prepare_;
  std::optional<size_t> indices_;  // a list of index tensors, which may be on the CPU
  bool returns_list_ = false;
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
  AtenLibrary().impl(
      name.substr(sizeof("aten::") - 1).c_str(),
      torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BoxedKernel>(std::move(entry))));
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
