// CPU tensors that stand for neuron tensors while something runs on the host.
//
// Where HBM is addressable by the host they alias it; else they are copies, written back by
// WriteBack(). One CPU storage per neuron storage, so aliases among arguments stay aliases. Waits
// for the device's current stream before the host may touch memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace neuron::pytorch {

class HostMirror {
 public:
  // The CPU view of `tensor`; CPU tensors pass through. `written`: WriteBack must copy it.
  at::Tensor ToHost(const at::Tensor& tensor, bool written);
  // Tensor[] arguments are written if any of them is.
  // A CPU result as a neuron tensor: an alias of the mirrored storage where it is one (views), else
  // a copy on `device`.
  at::Tensor ToDevice(const at::Tensor& tensor, int device);
  // After the call: moves what was written, also where the host resized an out= tensor.
  void WriteBack();
  // Everything mirrored counts as written: ops whose schema hides a mutation.
  void MarkAllWritten();
  int device() const { return device_; }  // of the first neuron tensor seen, or -1

 private:
  struct MirroredStorage {
    at::Storage device;
    at::Storage host;
    void* host_start = nullptr;  // to notice that the host reallocated
    bool aliased = false;
    bool written = false;
  };
  struct MirroredTensor {
    at::Tensor device;
    at::Tensor host;
  };
  MirroredStorage& Mirror(const at::Storage& storage, int device);

  std::vector<MirroredStorage> storages_;
  std::vector<MirroredTensor> written_;
  int device_ = -1;
};

}  // namespace neuron::pytorch
