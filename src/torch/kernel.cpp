#include "torch/kernel.h"

#include <ATen/core/List.h>

#include <algorithm>
#include <utility>

#include "torch/copy.h"
#include "torch/device.h"
#include "torch/fallback.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

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

}  // namespace

Kernel::Kernel(std::unique_ptr<OpEntry> entry)
    : entry_(std::move(entry)),
      returns_(ReturnSources(entry_->op.schema())),
      check_(FindValueCheck(entry_->name)),
      prepare_(FindPreparation(entry_->row->overload)) {
  for (const c10::Argument& returned : entry_->op.schema().returns())
    returns_list_ |= returned.type()->kind() == c10::TypeKind::ListType;
  for (size_t i = 0; i < entry_->args.size(); ++i)
    if (entry_->op.schema().arguments()[i].name() == "indices" &&
        entry_->args[i].kind == ArgKind::kTensorList)
      indices_ = i;
}

const Plan& Kernel::Run(std::span<c10::IValue> arguments, c10::SmallVectorImpl<at::Tensor>& fresh) {
  if (indices_.has_value()) arguments[*indices_] = OnDeviceOf(arguments[0], arguments[*indices_]);
  std::optional<int64_t> rows;
  if (prepare_ != nullptr) rows = prepare_(arguments);
  if (check_ != nullptr) check_(arguments);
  Call call;
  Flatten(*entry_, arguments, call);
  if (call.host_scalars_in_lists && !call.unsupported && !call.mixed_devices) [[unlikely]] {
    MoveListScalars(*entry_, arguments, call.device);
    call = Call();
    Flatten(*entry_, arguments, call);
  }
  const Plan& plan = *FindOrBuildPlan(*entry_, entry_->op, arguments, call);
  if (plan.fallback_reason.empty()) [[likely]]
    RunPlan(*entry_, plan, arguments, call, fresh, rows);
  return plan;
}

void Kernel::RunBoxed(torch::jit::Stack* stack) {
  const c10::OperatorHandle& op = entry_->op;
  const size_t count = entry_->args.size();
  const std::span<c10::IValue> arguments(stack->data() + stack->size() - count, count);
  c10::SmallVector<at::Tensor, 4> fresh;
  const Plan& plan = Run(arguments, fresh);
  if (!plan.fallback_reason.empty()) [[unlikely]] {
    const std::string reason = plan.fallback_reason;  // the plan may be another call's afterwards
    return FallbackToCpu(op, stack, reason, plan.wrong_arguments);
  }
  c10::SmallVector<c10::IValue, 4> aliased;
  for (const int source : returns_)
    if (source >= 0) aliased.push_back(arguments[static_cast<size_t>(source)]);
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
      stack->emplace_back(plan.results[next_fresh++].integer);
    }
    ++position;
  }
}

}  // namespace neuron::pytorch
