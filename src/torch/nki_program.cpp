#include "torch/nki_program.h"

#include <c10/util/Exception.h>

#include "torch/capture.h"
#include "torch/device.h"

namespace neuron::pytorch {
namespace {

compiler::Signature SignatureOf(const std::vector<NkiProgram::Binding>& bindings) {
  compiler::Signature signature;
  int64_t parameters = 0;
  int64_t results = 0;
  for (const NkiProgram::Binding& binding : bindings) {
    compiler::Signature::Buffer buffer;
    buffer.name = binding.name;
    buffer.bytes = binding.bytes;
    if (binding.input) buffer.parameter = parameters++;
    if (binding.output) buffer.output = results++;
    signature.buffers.push_back(std::move(buffer));
  }
  return signature;
}

}  // namespace

NkiProgram::NkiProgram(std::string name, const std::string& container,
                       const std::vector<Binding>& bindings, int device)
    : name_(std::move(name)), bindings_(bindings), device_(device) {
  EnsureInitialized();
  executable_ = ValueOrThrow(runtime::LoadContainer(device, container, SignatureOf(bindings)));
}

void NkiProgram::Run(const std::vector<at::Tensor>& tensors) const {
  TORCH_CHECK_VALUE(tensors.size() == bindings_.size(), name_, " binds ", bindings_.size(),
                    " tensors, got ", tensors.size());
  runtime::Launch launch;
  launch.executable = executable_;
  launch.op = name_.c_str();
  launch.keep_alive.push_back(std::const_pointer_cast<NkiProgram>(shared_from_this()));  // its name
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    TORCH_CHECK_VALUE(tensor.device() == DeviceAt(device_) && tensor.is_contiguous() &&
                          static_cast<int64_t>(tensor.nbytes()) >= bindings_[i].bytes,
                      name_, ": ", bindings_[i].name, " is a tensor of ", tensor.nbytes(),
                      " bytes on ", tensor.device(), ", expected ", bindings_[i].bytes,
                      " contiguous ones on ", DeviceAt(device_));
    launch.buffers.push_back(const_cast<void*>(tensor.const_data_ptr()));
    launch.keep_alive.push_back(std::make_shared<at::Tensor>(tensor));
  }
  Submit(device_, CurrentStream(device_), std::move(launch));
}

}  // namespace neuron::pytorch
