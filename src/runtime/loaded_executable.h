// An executable as NRT holds it: the loaded model, its signature, its bindings.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "compiler/compiler.h"
#include "nrt/loader.h"
#include "runtime/bindings.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

class Device;

class LoadedExecutable final : public Executable {
 public:
  // nrt_load of the container on this device.
  static StatusOr<std::shared_ptr<LoadedExecutable>> Load(Device& device, std::string container,
                                                          compiler::Signature signature);
  ~LoadedExecutable() override;

  const compiler::Signature& signature() const override { return signature_; }
  double modelled_seconds() const override;
  std::string Disassembly() const override;
  std::string TimelineJson() const override;

  Device& device() const { return device_; }
  nrt_model_t* model() const { return model_; }
  Bindings& bindings() { return bindings_; }
  const std::string& container() const { return container_; }

  // Whether one launch is so short that the caller should run it itself. Unknown programs are not.
  bool IsTiny(const Launch& launch) const;
  // What the runner learned: host time of one launch.
  bool WantsTime() const;
  void AddTime(const Launch& launch, int64_t host_ns);

 private:
  LoadedExecutable(Device& device, nrt_model_t* model, std::string container,
                   compiler::Signature signature);
  int64_t ExtentProduct(const Launch& launch) const;

  Device& device_;
  nrt_model_t* const model_;
  const std::string container_;
  const compiler::Signature signature_;
  Bindings bindings_;
  const size_t first_extent_;  // index into Launch::scalars
  // Exponential mean of the host time of one launch, at the extents it was measured with.
  std::atomic<int64_t> host_ns_{-1};
  std::atomic<int64_t> measured_extents_{1};
  std::atomic<uint32_t> launches_{0};
};

}  // namespace neuron::runtime
