#include "torch/storage.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/TensorImpl.h>

#include "torch/allocator.h"
#include "torch/device.h"

namespace neuron::pytorch {
namespace {

const c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

at::Tensor Make(int device, size_t bytes, at::ScalarType dtype) {
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                       AllocateOn(device, bytes), DeviceAllocator(),
                                                       /*resizable=*/true);
  return at::detail::make_tensor<c10::TensorImpl>(std::move(storage), kKeys,
                                                  c10::scalarTypeToTypeMeta(dtype));
}

}  // namespace

void ResizeStorage(c10::StorageImpl* storage, size_t bytes) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  const int device = storage->device().index();
  c10::DataPtr grown = AllocateOn(device, bytes);
  const size_t kept = std::min(bytes, storage->nbytes());
  if (kept > 0)
    ThrowIfError(runtime::CopyOnDevice(device, CurrentStream(device), grown.get(), storage->data(),
                                       static_cast<int64_t>(kept)));
  storage->set_data_ptr_noswap(std::move(grown));
  storage->set_nbytes(bytes);
}

void ResizeTensor(const at::Tensor& tensor, at::IntArrayRef sizes,
                  at::OptionalIntArrayRef strides) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const size_t item = impl->itemsize();
  const auto offset = static_cast<size_t>(impl->storage_offset());
  size_t bytes = 0;
  if (strides.has_value()) {
    impl->set_sizes_and_strides(sizes, *strides);
    bytes = at::detail::computeStorageNbytes(sizes, *strides, item, offset);
  } else {
    at::detail::check_size_nonnegative(sizes);
    impl->set_sizes_contiguous(sizes);
    bytes = at::detail::computeStorageNbytesContiguous(sizes, item, offset);
  }
  if (impl->numel() > 0 && bytes > impl->unsafe_storage().nbytes())
    ResizeStorage(impl->unsafe_storage().unsafeGetStorageImpl(), bytes);
}

at::Tensor EmptyStrided(int device, at::IntArrayRef sizes, at::IntArrayRef strides,
                        at::ScalarType dtype) {
  const size_t item = c10::elementSize(dtype);
  at::Tensor out = Make(device, at::detail::computeStorageNbytes(sizes, strides, item), dtype);
  out.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return out;
}

at::Tensor EmptyContiguous(int device, at::IntArrayRef sizes, at::ScalarType dtype) {
  const size_t item = c10::elementSize(dtype);
  at::Tensor out = Make(device, at::detail::computeStorageNbytesContiguous(sizes, item), dtype);
  if (sizes.size() != 1 || sizes[0] != 0) out.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return out;
}

}  // namespace neuron::pytorch
