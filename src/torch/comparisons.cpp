// torch.equal: its answer is a host bool, so that it waits for the device.
#include <ATen/core/Tensor.h>
#include <ATen/ops/all.h>
#include <ATen/ops/eq.h>
#include <torch/library.h>

namespace neuron::pytorch {
namespace {

bool Equal(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.device() == b.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              a.device(), " and ", b.device(), "! (when checking arguments of aten::equal)");
  TORCH_CHECK(a.dtype() == b.dtype(), "Expected object of data type ", a.dtype(),
              " but got data type ", b.dtype(), " for argument 'other' in call to 'equal'");
  if (a.sizes() != b.sizes()) return false;
  return a.numel() == 0 || at::all(at::eq(a, b)).item<bool>();
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("equal", TORCH_FN(Equal)); }

}  // namespace
}  // namespace neuron::pytorch
