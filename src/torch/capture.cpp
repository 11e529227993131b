#include "torch/capture.h"

#include <ATen/core/GraphImplInterface.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <vector>

#include "torch/device.h"

namespace neuron::pytorch {
namespace {

struct Recording {
  int device = 0;
  std::vector<Step> steps;
  std::vector<std::string> names;
  std::vector<std::shared_ptr<c10::DataPtr>> memory;
};

thread_local Recording* recording = nullptr;

void ReleaseShared(void* context) { delete static_cast<std::shared_ptr<c10::DataPtr>*>(context); }

class Graph final : public at::GraphImplInterface {
 public:
  explicit Graph(const at::GraphImplArgs&) {}

  void capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode) override {
    TORCH_CHECK(recording == nullptr, "neuron: this thread is capturing a graph already");
    reset();
    EnsureInitialized();
    pool_ = pool == c10::MempoolId_t{0, 0} ? c10::MempoolId_t{++next_pool_, 0} : pool;
    recorded_ = std::make_unique<Recording>();
    recorded_->device = CurrentDevice();
    recording = recorded_.get();
  }
  void capture_end() override {
    TORCH_CHECK(recorded_ != nullptr && recording == recorded_.get(),
                "neuron: capture_end without capture_begin on this thread");
    recording = nullptr;
  }
  void instantiate() override {}
  void replay() override {
    TORCH_CHECK(recorded_ != nullptr, "neuron: replay of a graph that was not captured");
    TORCH_CHECK(recording == nullptr, "neuron: replay inside a capture");
    const runtime::StreamId stream = CurrentStream(recorded_->device);
    for (const Step& step : recorded_->steps) step(stream);
  }
  void reset() override {
    if (recording != nullptr && recording == recorded_.get()) recording = nullptr;
    recorded_.reset();
  }
  c10::MempoolId_t pool() const override { return pool_; }
  void enable_debug_mode() override {}
  void debug_dump(const std::string& path) override {
    TORCH_CHECK(recorded_ != nullptr, "neuron: debug_dump of a graph that was not captured");
    std::ofstream out(path);
    for (const std::string& name : recorded_->names) out << name << '\n';
    TORCH_CHECK(out.good(), "neuron: cannot write ", path);
  }

 private:
  static inline std::atomic<uint64_t> next_pool_{0};
  std::unique_ptr<Recording> recorded_;
  c10::MempoolId_t pool_{0, 0};
};

}  // namespace

void RegisterGraphs() {
  // The registry's key is the device's name, which is known once the device is renamed.
  at::GraphImplRegistry()->Register(
      c10::DeviceTypeName(kDeviceType, /*lower_case=*/false),
      [](const at::GraphImplArgs& args) -> std::unique_ptr<at::GraphImplInterface> {
        return std::make_unique<Graph>(args);
      });
}

bool IsCapturing() { return recording != nullptr; }

void RunOrRecord(runtime::StreamId stream, Step step) {
  if (recording == nullptr) [[likely]] {
    step(stream);
    return;
  }
  recording->names.emplace_back("host step");
  recording->steps.push_back(std::move(step));
}

void Submit(int device, runtime::StreamId stream, runtime::Launch launch) {
  if (recording == nullptr) [[likely]] {
    ThrowIfError(runtime::Enqueue(device, stream, std::move(launch)));
    return;
  }
  recording->names.emplace_back(launch.op);
  recording->steps.emplace_back([device, launch = std::move(launch)](runtime::StreamId at) {
    ThrowIfError(runtime::Enqueue(device, at, launch));
  });
}

void RefuseInCapture(const char* what) {
  TORCH_CHECK(recording == nullptr, "neuron: ", what,
              " is not possible while a graph is being captured");
}

c10::DataPtr KeepForCapture(c10::DataPtr memory) {
  auto shared = std::make_shared<c10::DataPtr>(std::move(memory));
  recording->memory.push_back(shared);
  void* pointer = shared->get();
  const c10::Device device = shared->device();
  return {pointer, new std::shared_ptr<c10::DataPtr>(std::move(shared)), &ReleaseShared, device};
}

}  // namespace neuron::pytorch
