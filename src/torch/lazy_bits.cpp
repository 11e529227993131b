// Views that only note that what they show is conjugated or negated. Ops that read them resolve the
// bits in their program (call.h); here is what PyTorch leaves to a backend.
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

namespace neuron::pytorch {
namespace {

at::Tensor& ConjPhysicalOut(const at::Tensor& self, at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  return out.copy_(self.conj());
}
at::Tensor& ConjPhysicalInPlace(at::Tensor& self) {
  return self.is_complex() ? self.copy_(self.conj()) : self;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("conj_physical.out", TORCH_FN(ConjPhysicalOut));
  m.impl("conj_physical_", TORCH_FN(ConjPhysicalInPlace));
}

// The schema of _copy_from does not say that it writes, so that PyTorch would resolve a lazy
// target into a copy and lose what is written there.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

}  // namespace
}  // namespace neuron::pytorch
