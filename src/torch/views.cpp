// Views and metadata changes that ATen registers per backend: its own strided implementations.
// All other views are composites over these.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/ResizeCommon.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "torch/allocator.h"
#include "torch/device.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

const at::Tensor& Resize(const at::Tensor& self, at::IntArrayRef sizes,
                         std::optional<c10::MemoryFormat> memory_format) {
  const auto old_bytes = static_cast<int64_t>(self.storage().nbytes());
  if (self.sizes() != sizes) ResizeTensor(self, sizes);
  if (memory_format.has_value()) {
    TORCH_CHECK(*memory_format != c10::MemoryFormat::Preserve, "Unsupported memory format",
                *memory_format);
    self.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  }
  const at::Context& context = at::globalContext();
  if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory())
      [[unlikely]]
    at::native::fill_resize_deterministic_(self, old_bytes);
  return self;
}

at::Tensor& SetStorageWithOffset(at::Tensor& result, at::Storage storage, int64_t offset,
                                 at::IntArrayRef sizes, at::IntArrayRef strides) {
  at::native::checkSetStorage(result, storage, offset, sizes, strides);
  result.unsafeGetTensorImpl()->set_storage_offset(offset);
  ResizeTensor(result, sizes,
               strides.data() != nullptr ? at::OptionalIntArrayRef(strides) : std::nullopt);
  return result;
}

at::Tensor& SetStorage(at::Tensor& result, at::Storage storage) {
  const auto item = static_cast<int64_t>(result.dtype().itemsize());
  const int64_t elements = static_cast<int64_t>(storage.nbytes()) / item;
  return SetStorageWithOffset(result, std::move(storage), 0, {elements}, {});
}

at::Tensor& SetTensor(at::Tensor& result, const at::Tensor& source) {
  if (result.unsafeGetTensorImpl() == source.unsafeGetTensorImpl()) return result;
  return SetStorageWithOffset(result, source.storage(), source.storage_offset(), source.sizes(),
                              source.strides());
}

at::Tensor& SetEmpty(at::Tensor& result) {
  at::Storage storage(at::Storage::use_byte_size_t(), 0, AllocateOn(result.device().index(), 0),
                      DeviceAllocator(), true);
  return SetStorageWithOffset(result, std::move(storage), 0, {0}, {});
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  m.impl("view", TORCH_FN(at::native::view));
  m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  m.impl("unfold", TORCH_FN(at::native::unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("resize_", TORCH_FN(Resize));
  m.impl("set_.source_Storage", TORCH_FN(SetStorage));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(SetStorageWithOffset));
  m.impl("set_.source_Tensor", TORCH_FN(SetTensor));
  m.impl("set_", TORCH_FN(SetEmpty));
}

}  // namespace
}  // namespace neuron::pytorch
