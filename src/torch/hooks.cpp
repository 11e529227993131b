#include "torch/hooks.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "torch/allocator.h"
#include "torch/capture.h"
#include "torch/device.h"
#include "torch/generator.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return DeviceCount() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return runtime::IsInitialized(); }
  void init() const override { EnsureInitialized(); }

  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(DeviceCount());
  }
  void setCurrentDevice(c10::DeviceIndex device) const override { SetCurrentDevice(device); }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(CurrentDevice());
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return static_cast<c10::DeviceIndex>(ExchangeDevice(device));
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return static_cast<c10::DeviceIndex>(ExchangeDevice(device));
  }

  bool isPinnedPtr(const void* data) const override { return IsPinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return PinnedAllocator(); }
  c10::Device getDeviceFromPtr(void* data) const override {
    const int device = runtime::DeviceOf(data);
    TORCH_CHECK(device >= 0, "neuron: the pointer ", data, " is not device memory");
    return DeviceAt(device);
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return DefaultGenerator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return NewGenerator(device);
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    ResizeStorage(storage.unsafeGetStorageImpl(), bytes);
  }
};

}  // namespace

void RegisterHooks() {
  static auto* hooks = new Hooks;
  at::RegisterPrivateUse1HooksInterface(hooks);
  RegisterGraphs();
}

}  // namespace neuron::pytorch
