// The device as PyTorch sees it: PrivateUse1, renamed to "neuron". Current device and current
// streams are per thread.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/core/Stream.h>

#include <exception>

#include "base/status.h"
#include "runtime/runtime.h"

namespace neuron::pytorch {

inline constexpr c10::DeviceType kDeviceType = c10::DeviceType::PrivateUse1;

inline c10::Device DeviceAt(int index) {
  return c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(index));
}

// Throws what PyTorch CPU would for that kind of failure: IndexError for OutOfRange,
// OutOfMemoryError for ResourceExhausted, NotImplementedError for Unimplemented, else RuntimeError.
void ThrowIfError(const Status& status);
// What ends a wait of this thread (runtime::SetInterruptCheck): ThrowIfError throws it for the
// Unavailable that the wait returns.
void SetInterruption(std::exception_ptr exception);
template <typename T>
T ValueOrThrow(StatusOr<T> value) {
  ThrowIfError(value.status());
  return std::move(value).value();
}

// Loads the NRT library on first use; throws if there is no machine, or in a child that forked
// after the parent had initialised (device memory and threads do not survive a fork).
void EnsureInitialized();
bool InBadFork();

int DeviceCount() noexcept;
int CurrentDevice() noexcept;
void SetCurrentDevice(int device);  // throws if there is no such device
int ExchangeDevice(int device);     // returns the previous one; negative: no change
void UncheckedSetCurrentDevice(int device) noexcept;

runtime::StreamId CurrentStream(int device) noexcept;
runtime::StreamId ExchangeStream(int device, runtime::StreamId stream) noexcept;
inline c10::Stream ToStream(int device, runtime::StreamId stream) {
  return c10::Stream(c10::Stream::UNSAFE, DeviceAt(device), stream);
}

}  // namespace neuron::pytorch
