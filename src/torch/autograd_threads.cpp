#include "torch/autograd_threads.h"

#include <ATen/ThreadLocalPythonObjects.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "runtime/runtime.h"
#include "torch/device.h"

namespace neuron::pytorch {
namespace {

// The engine starts its threads with the first backward of the process, and names them.
bool AutogradThreadsRun() {
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with("pt_autograd_")) return true;
  }
  return false;
}

// A backward of no elements, through the queue of the device's thread: once it has run there, the
// thread has let go of what it ran before.
void RunEmptyBackward(int device) {
  const at::AutoGradMode enabled(true);
  const at::Tensor leaf =
      at::empty({0}, at::TensorOptions().device(DeviceAt(device))).requires_grad_();
  torch::autograd::backward({leaf.view({0, 1})}, {at::empty({0, 1}, leaf.options())});
}

}  // namespace

void DrainAutogradThreads() {
  if (!runtime::IsInitialized() || !AutogradThreadsRun()) return;
  const at::impl::ThreadLocalPythonObjects kept = at::impl::ThreadLocalPythonObjects::get_state();
  at::impl::ThreadLocalPythonObjects::set_state({});  // else the empty graphs hold them too
  for (int device = 0; device < DeviceCount(); ++device) RunEmptyBackward(device);
  at::impl::ThreadLocalPythonObjects::set_state(kept);
}

}  // namespace neuron::pytorch
