// Whether `tensor.data = other` may change a tensor's device: between CPU and neuron it may, as
// between CPU and CUDA. nn.Module.to then keeps its parameters as objects: tied weights stay tied,
// and an optimizer made before the move holds the moved parameters.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "torch/device.h"

namespace neuron::pytorch {
namespace {

bool IsPlain(const at::Tensor& tensor) {
  const c10::DeviceType device = tensor.device().type();
  return (device == kDeviceType || device == c10::DeviceType::CPU) &&
         tensor.layout() == c10::kStrided &&
         tensor.key_set().has_any(c10::DispatchKeySet(c10::DispatchKey::Dense));
}

bool HasCompatibleShallowCopyType(const at::Tensor& self, const at::Tensor& from) {
  return (IsPlain(self) && IsPlain(from)) ||
         self.unsafeGetTensorImpl()->has_compatible_shallow_copy_type(from.key_set());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", TORCH_FN(HasCompatibleShallowCopyType));
}

}  // namespace
}  // namespace neuron::pytorch
