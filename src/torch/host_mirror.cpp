#include "torch/host_mirror.h"

#include <c10/core/CPUAllocator.h>

#include "torch/capture.h"
#include "torch/device.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

void NoDelete(void*) {}

at::Tensor OnStorage(const at::Storage& storage, const at::Tensor& like, c10::DispatchKeySet keys) {
  at::Tensor out = at::detail::make_tensor<c10::TensorImpl>(at::Storage(storage), keys,
                                                            like.unsafeGetTensorImpl()->dtype());
  c10::TensorImpl* impl = out.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  if (like.is_conj()) impl->_set_conj(true);
  if (like.is_neg()) impl->_set_neg(true);
  return out;
}

const c10::DispatchKeySet kHostKeys(c10::DispatchKey::CPU);
const c10::DispatchKeySet kDeviceKeys(c10::DispatchKey::PrivateUse1);

}  // namespace

HostMirror::MirroredStorage& HostMirror::Mirror(const at::Storage& storage, int device) {
  for (MirroredStorage& known : storages_)
    if (known.device.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) return known;
  RefuseInCapture("a CPU fallback");
  MirroredStorage mirror;
  mirror.device = storage;
  const size_t bytes = storage.nbytes();
  auto* pointer = static_cast<char*>(const_cast<void*>(storage.data()));
  mirror.aliased = bytes == 0 || runtime::Properties(device).host_addressable;
  c10::DataPtr data(pointer, pointer, &NoDelete, c10::Device(c10::DeviceType::CPU));
  if (mirror.aliased) {
    ThrowIfError(runtime::SynchronizeStream(device, CurrentStream(device)));
  } else {
    data = c10::GetCPUAllocator()->allocate(bytes);
    ThrowIfError(runtime::CopyToHost(device, CurrentStream(device), data.get(), pointer,
                                     static_cast<int64_t>(bytes), /*blocking=*/true));
  }
  mirror.host_start = data.get();
  mirror.host = at::Storage(at::Storage::use_byte_size_t(), bytes, std::move(data),
                            c10::GetCPUAllocator(), /*resizable=*/true);
  storages_.push_back(std::move(mirror));
  return storages_.back();
}

at::Tensor HostMirror::ToHost(const at::Tensor& tensor, bool written) {
  if (!tensor.defined() || tensor.device().type() != kDeviceType) return tensor;
  const int device = tensor.device().index();
  if (device_ < 0) device_ = device;
  MirroredStorage& mirror = Mirror(tensor.storage(), device);
  mirror.written |= written;
  at::Tensor host = OnStorage(mirror.host, tensor, kHostKeys);
  if (written) written_.push_back({tensor, host});
  return host;
}

at::Tensor HostMirror::ToDevice(const at::Tensor& tensor, int device) {
  if (!tensor.defined() || tensor.device().type() != c10::DeviceType::CPU) return tensor;
  for (const MirroredTensor& known : written_)
    if (known.host.unsafeGetTensorImpl() == tensor.unsafeGetTensorImpl()) return known.device;
  for (const MirroredStorage& known : storages_)
    if (known.host.unsafeGetStorageImpl() == tensor.storage().unsafeGetStorageImpl() &&
        known.host_start == known.host.data())
      return OnStorage(known.device, tensor, kDeviceKeys);
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided,
                              "neuron tensors are strided; the result has layout ",
                              tensor.layout());
  // Dense in memory: keep the strides; else compact them.
  const at::Tensor source = tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
  at::Tensor out = EmptyStrided(device, source.sizes(), source.strides(), source.scalar_type());
  if (source.numel() > 0)
    ThrowIfError(runtime::CopyToDevice(device, CurrentStream(device), out.mutable_data_ptr(),
                                       source.const_data_ptr(),
                                       static_cast<int64_t>(source.nbytes()), /*blocking=*/true));
  c10::TensorImpl* impl = out.unsafeGetTensorImpl();
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  if (source.is_conj()) impl->_set_conj(true);  // lazily: the bytes are not conjugated yet
  if (source.is_neg()) impl->_set_neg(true);
  return out;
}

void HostMirror::WriteBack() {
  for (MirroredStorage& mirror : storages_) {
    if (!mirror.written) continue;
    const int device = mirror.device.device().index();
    const bool moved =
        mirror.host.data() != mirror.host_start || mirror.host.nbytes() != mirror.device.nbytes();
    if (mirror.aliased && !moved) continue;
    const size_t bytes = mirror.host.nbytes();
    if (bytes > mirror.device.nbytes()) ResizeStorage(mirror.device.unsafeGetStorageImpl(), bytes);
    if (bytes > 0)
      ThrowIfError(runtime::CopyToDevice(device, CurrentStream(device),
                                         mirror.device.mutable_data(), mirror.host.data(),
                                         static_cast<int64_t>(bytes),
                                         /*blocking=*/true));
  }
  for (MirroredTensor& tensor : written_)
    if (tensor.device.sizes() != tensor.host.sizes() ||
        tensor.device.strides() != tensor.host.strides())
      tensor.device.unsafeGetTensorImpl()->set_sizes_and_strides(
          tensor.host.sizes(), tensor.host.strides(), tensor.host.storage_offset());
}

void HostMirror::MarkAllWritten() {
  for (MirroredStorage& mirror : storages_) mirror.written = true;
}

}  // namespace neuron::pytorch
