#include "torch/meta.h"

#include <ATen/core/List.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DispatchKeySet.h>

#include <atomic>

#include "torch/device.h"

namespace neuron::pytorch {
namespace {

class MetaArguments {
 public:
  explicit MetaArguments(std::span<const AssumedSizes> assumed) : assumed_(assumed) {}
  c10::IValue Convert(const c10::IValue& value) {
    if (value.isTensor()) return Tensor(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> out;
      for (const c10::IValue& element : value.toListRef())
        out.push_back(Tensor(element.toTensor()));
      return out;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> out;
      for (const c10::IValue& element : value.toListRef())
        out.push_back(element.isNone() ? std::nullopt : std::optional(Tensor(element.toTensor())));
      return out;
    }
    if (value.isDevice()) return c10::Device(c10::DeviceType::Meta);
    if (value.isGenerator()) return {};
    return value;
  }
  const std::vector<at::Tensor>& tensors() const { return tensors_; }

 private:
  // One meta tensor per tensor object, so that an op sees that an output is also an input.
  at::Tensor Tensor(const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.device().type() != kDeviceType) return tensor;
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i] != tensor.unsafeGetTensorImpl()) continue;
      tensors_.push_back(tensors_[i]);
      sources_.push_back(sources_[i]);
      return tensors_[i];
    }
    const AssumedSizes* assumed = assumed_.empty() ? nullptr : &assumed_[sources_.size()];
    at::Tensor meta = at::empty_strided(
        assumed != nullptr ? at::IntArrayRef(assumed->sizes) : tensor.sizes(),
        assumed != nullptr ? at::IntArrayRef(assumed->strides) : tensor.strides(),
        at::TensorOptions().dtype(tensor.scalar_type()).device(c10::DeviceType::Meta));
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
      meta.unsafeGetTensorImpl()->set_wrapped_number(true);
    sources_.push_back(tensor.unsafeGetTensorImpl());
    tensors_.push_back(meta);
    return meta;
  }
  std::span<const AssumedSizes> assumed_;
  std::vector<const c10::TensorImpl*> sources_;
  std::vector<at::Tensor> tensors_;
};

TensorMeta MetaOf(const at::Tensor& tensor) {
  if (!tensor.defined()) return {.defined = false, .sizes = {}, .strides = {}};
  return {true, 0, tensor.sizes().vec(), tensor.strides().vec(), tensor.scalar_type()};
}

}  // namespace

namespace {
std::atomic<std::string (*)()> python_error_taker{nullptr};
}  // namespace

void SetPythonErrorTaker(std::string (*taker)()) { python_error_taker = taker; }
std::string TakePythonError() {
  const auto taker = python_error_taker.load();
  return taker == nullptr ? std::string() : taker();
}

std::optional<MetaResult> InferMeta(const c10::OperatorHandle& op,
                                    std::span<const c10::IValue> arguments,
                                    std::span<const AssumedSizes> assumed) {
  if (!op.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta)) return std::nullopt;
  MetaArguments meta(assumed);
  torch::jit::Stack stack;
  for (const c10::IValue& value : arguments) stack.push_back(meta.Convert(value));
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;
  }
  MetaResult out;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) {
      out.returns.push_back(MetaOf(value.toTensor()));
    } else if (value.isInt()) {
      out.returns.push_back(
          {.defined = false, .integer = value.toInt(), .sizes = {}, .strides = {}});
    } else if (value.isNone()) {
      out.returns.push_back(MetaOf({}));
    } else if (value.isTensorList()) {
      for (const c10::IValue& element : value.toListRef())
        out.returns.push_back(MetaOf(element.toTensor()));
    }
  }
  for (const at::Tensor& tensor : meta.tensors()) out.arguments.push_back(MetaOf(tensor));
  return out;
}

}  // namespace neuron::pytorch
