// Devices, streams and events for c10's guards, torch.Stream, torch.Event and torch.accelerator.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "torch/allocator.h"
#include "torch/device.h"

namespace neuron::pytorch {
namespace {

// What c10::Event holds as void*: the flag it was made with and its latest recording.
struct EventHandle {
  std::shared_ptr<runtime::Event> recorded;
};
EventHandle& AsEvent(void* event) { return *static_cast<EventHandle*>(event); }

class GuardImpl final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kDeviceType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return DeviceAt(ExchangeDevice(device.index()));
  }
  c10::Device getDevice() const override { return DeviceAt(CurrentDevice()); }
  void setDevice(c10::Device device) const override { SetCurrentDevice(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    UncheckedSetCurrentDevice(device.index());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(DeviceCount());
  }
  // The emulated and the real chip store every dtype; the fp64 and complex ones are slow.
  c10::DeviceCapability getDeviceCapability(c10::Device) const override { return {}; }

  c10::Stream getStream(c10::Device device) const override {
    const int index = Index(device);
    return ToStream(index, CurrentStream(index));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return ToStream(Index(device), 0);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override {
    return getNewStream(device, high_priority ? -1 : 0);
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    EnsureInitialized();
    const int index = Index(device);
    return ToStream(index, ValueOrThrow(runtime::CreateStream(index, priority)));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const int index = Index(stream.device());
    return ToStream(index, ExchangeStream(index, stream.id()));
  }
  bool queryStream(const c10::Stream& stream) const override {
    return !runtime::IsInitialized() || runtime::QueryStream(stream.device_index(), stream.id());
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    if (runtime::IsInitialized())
      ThrowIfError(runtime::SynchronizeStream(stream.device_index(), stream.id()));
  }
  void synchronizeDevice(c10::DeviceIndex device) const override {
    EnsureInitialized();
    ThrowIfError(runtime::SynchronizeDevice(device));
  }
  void recordDataPtrOnStream(const c10::DataPtr& pointer,
                             const c10::Stream& stream) const override {
    DeviceAllocator()->recordStream(pointer, stream);
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex device,
              c10::EventFlag flag) const override {
    TORCH_CHECK(device == -1 || device == stream.device_index(),
                "Event device neuron:", static_cast<int>(device),
                " differs from the recording stream's device neuron:",
                static_cast<int>(stream.device_index()));
    EnsureInitialized();
    if (*event == nullptr) *event = new EventHandle;
    AsEvent(*event).recorded = runtime::RecordEvent(stream.device_index(), stream.id(),
                                                    flag == c10::EventFlag::BACKEND_DEFAULT);
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr || !AsEvent(event).recorded) return;
    runtime::StreamWaitEvent(stream.device_index(), stream.id(), AsEvent(event).recorded);
  }
  bool queryEvent(void* event) const override {
    return event == nullptr || !AsEvent(event).recorded ||
           runtime::QueryEvent(*AsEvent(event).recorded);
  }
  void synchronizeEvent(void* event) const override {
    if (event == nullptr || !AsEvent(event).recorded) return;
    ThrowIfError(runtime::SynchronizeEvent(*AsEvent(event).recorded));
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<EventHandle*>(event);
  }
  double elapsedTime(void* begin, void* end, c10::DeviceIndex) const override {
    TORCH_CHECK(
        begin != nullptr && end != nullptr && AsEvent(begin).recorded && AsEvent(end).recorded,
        "Both events must be recorded before calculating elapsed time.");
    return ValueOrThrow(
        runtime::ElapsedMilliseconds(*AsEvent(begin).recorded, *AsEvent(end).recorded));
  }

 private:
  static int Index(c10::Device device) {
    return device.has_index() ? device.index() : CurrentDevice();
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, GuardImpl);

}  // namespace
}  // namespace neuron::pytorch
