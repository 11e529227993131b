// An NKI kernel's program on tensors of the device.
//
// The program comes from the nki package as a container; which tensors it binds is told beside it.
// Launches go through the stream like every operator's. Thread safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.h"

namespace neuron::pytorch {

class NkiProgram : public std::enable_shared_from_this<NkiProgram> {
 public:
  struct Binding {
    std::string name;  // in the program
    int64_t bytes = 0;
    bool input = false, output = false;
  };

  NkiProgram(std::string name, const std::string& container, const std::vector<Binding>& bindings,
             int device);

  // Enqueues a launch on the device's current stream. Tensors in the order of the bindings,
  // contiguous, of this device and of the binding's size.
  void Run(const std::vector<at::Tensor>& tensors) const;

  double modelled_seconds() const { return executable_->modelled_seconds(); }
  std::string TimelineJson() const { return executable_->TimelineJson(); }

 private:
  const std::string name_;
  const std::vector<Binding> bindings_;
  const int device_;
  std::shared_ptr<runtime::Executable> executable_;
};

}  // namespace neuron::pytorch
