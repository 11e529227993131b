// Tensor.record_stream: the memory is not given to others before that stream's work on it is done.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "torch/allocator.h"

namespace neuron::pytorch {
namespace {

void RecordStream(at::Tensor& self, c10::Stream stream) {
  DeviceAllocator()->recordStream(self.storage().data_ptr(), stream);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("record_stream", TORCH_FN(RecordStream)); }

}  // namespace
}  // namespace neuron::pytorch
