#include "torch/copy.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include "torch/allocator.h"
#include "torch/capture.h"
#include "torch/device.h"
#include "torch/fallback.h"
#include "torch/host_mirror.h"
#include "torch/kernels.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

bool SameBytes(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.is_conj() == b.is_conj() &&
         a.is_neg() == b.is_neg() && a.strides() == b.strides() && a.is_non_overlapping_and_dense();
}

// The same memory under other lazy bits.
at::Tensor WithBits(const at::Tensor& tensor, bool conjugated, bool negated) {
  at::Tensor alias = tensor.detach();
  alias._set_conj(conjugated);
  alias._set_neg(negated);
  return alias;
}

int64_t Bytes(const at::Tensor& tensor) { return static_cast<int64_t>(tensor.nbytes()); }

void CopyOnDevice(const at::Tensor& to, const at::Tensor& from) {
  const int device = to.device().index();
  const int source_device = from.device().index();
  if (device != source_device) {
    // Through the host: a peer copy needs no capability of the runtime this way.
    at::Tensor host = at::empty_strided(from.sizes(), from.strides(),
                                        from.options().device(c10::DeviceType::CPU));
    Copy(host, from, false);
    Copy(to, host, false);
    return;
  }
  if (SameBytes(to, from)) {
    void* target = to.mutable_data_ptr();
    const void* source = from.const_data_ptr();
    const int64_t bytes = Bytes(to);
    RunOrRecord(CurrentStream(device), [=](runtime::StreamId stream) {
      ThrowIfError(runtime::CopyOnDevice(device, stream, target, source, bytes));
    });
    return;
  }
  // conj(a) = b is a = conj(b): what is lazy about the target is made the source's.
  const bool lazy = to.is_conj() || to.is_neg();
  if (CopyByPlan(lazy ? WithBits(to, false, false) : to,
                 lazy ? WithBits(from, to.is_conj() != from.is_conj(), to.is_neg() != from.is_neg())
                      : from))
    return;
  HostMirror mirror;
  const at::Tensor host_from = mirror.ToHost(from, false);
  mirror.ToHost(to, true).copy_(host_from);
  mirror.WriteBack();
}

// The host side in the device side's dtype and strides, where it is not already.
at::Tensor HostLike(const at::Tensor& device_side) {
  return at::empty_strided(device_side.sizes(), device_side.strides(),
                           device_side.options().device(c10::DeviceType::CPU));
}

void HostToDevice(const at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  const int device = to.device().index();
  if (!to.is_non_overlapping_and_dense()) {
    const at::Tensor dense = EmptyContiguous(device, to.sizes(), to.scalar_type());
    HostToDevice(dense, from, non_blocking);
    CopyOnDevice(to, dense);
    return;
  }
  at::Tensor source = from;
  RefuseInCapture("copying from the host");
  if (!SameBytes(to, from)) {
    source = HostLike(to);
    source.copy_(from);
  }
  const bool asynchronous =
      non_blocking && source.is_same(from) && IsPinned(source.const_data_ptr());
  const runtime::StreamId stream = CurrentStream(device);
  ThrowIfError(runtime::CopyToDevice(device, stream, to.mutable_data_ptr(), source.const_data_ptr(),
                                     Bytes(to), !asynchronous));
  if (asynchronous) RecordPinnedUse(source.const_data_ptr(), device, stream);
}

void DeviceToHost(const at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  RefuseInCapture("copying to the host");
  const int device = from.device().index();
  if (!from.is_non_overlapping_and_dense()) {
    const at::Tensor dense = EmptyContiguous(device, from.sizes(), from.scalar_type());
    CopyOnDevice(dense, from);
    DeviceToHost(to, dense, non_blocking);
    return;
  }
  const bool direct = SameBytes(to, from);
  const at::Tensor target = direct ? to : HostLike(from);
  const bool asynchronous = non_blocking && direct && IsPinned(target.const_data_ptr());
  const runtime::StreamId stream = CurrentStream(device);
  ThrowIfError(runtime::CopyToHost(device, stream, target.mutable_data_ptr(), from.const_data_ptr(),
                                   Bytes(from), !asynchronous));
  if (asynchronous) RecordPinnedUse(target.const_data_ptr(), device, stream);
  if (!direct) {
    if (from.is_conj()) target._set_conj(true);
    if (from.is_neg()) target._set_neg(true);
    to.copy_(target);
  }
}

at::Tensor CopyFrom(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  at::assert_no_internal_overlap(dst);
  at::assert_no_partial_overlap(dst, self);
  if (self.sizes() != dst.sizes()) at::infer_size(dst.sizes(), self.sizes());  // CPU's words
  Copy(dst, self.sizes() == dst.sizes() ? self : self.expand_as(dst), non_blocking);
  return dst;
}

at::Tensor CopyFromAndResize(const at::Tensor& self, const at::Tensor& dst) {
  if (self.sizes() != dst.sizes()) dst.resize_(self.sizes());
  Copy(dst, self, false);
  return dst;
}

at::Scalar LocalScalarDense(const at::Tensor& self) {
  RefuseInCapture("reading a value");
  const int device = self.device().index();
  at::Tensor host = at::empty({}, self.options().device(c10::DeviceType::CPU));
  ThrowIfError(runtime::CopyToHost(device, CurrentStream(device), host.mutable_data_ptr(),
                                   self.const_data_ptr(), Bytes(self), /*blocking=*/true));
  // Reading a value is a synchronisation: errors of the data computed so far are due now.
  ThrowIfError(runtime::SynchronizeStream(device, CurrentStream(device)));
  return at::native::_local_scalar_dense_cpu(host);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", TORCH_FN(CopyFrom));
  m.impl("_copy_from_and_resize", TORCH_FN(CopyFromAndResize));
  m.impl("_local_scalar_dense", TORCH_FN(LocalScalarDense));
}

}  // namespace

void Copy(const at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  if (to.numel() == 0) return;
  EnsureInitialized();
  const bool to_device = to.device().type() == kDeviceType;
  const bool from_device = from.device().type() == kDeviceType;
  if (to_device && from_device) {
    if (!to.is_same(from)) CopyOnDevice(to, from);
  } else if (to_device) {
    HostToDevice(to, from, non_blocking);
  } else {
    DeviceToHost(to, from, non_blocking);
  }
}

}  // namespace neuron::pytorch
