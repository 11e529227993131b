#include "torch/device.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowering/table.h"

namespace neuron::pytorch {
namespace {

std::atomic<bool> in_bad_fork{false};
thread_local std::exception_ptr interruption;
thread_local int current_device = 0;
thread_local std::vector<runtime::StreamId> current_streams;

void MarkFork() {
  if (runtime::IsInitialized()) in_bad_fork = true;
}

std::string Text(const Status& status) { return std::string(status.message()); }

}  // namespace

void SetInterruption(std::exception_ptr exception) { interruption = std::move(exception); }

void ThrowIfError(const Status& status) {
  if (status.ok()) [[likely]]
    return;
  switch (status.code()) {
    case StatusCode::kUnavailable:
      if (interruption) std::rethrow_exception(std::exchange(interruption, nullptr));
      TORCH_CHECK(false, Text(status));
    case StatusCode::kOutOfRange:
      TORCH_CHECK_INDEX(false, Text(status));
    case StatusCode::kResourceExhausted:
      TORCH_CHECK_WITH(OutOfMemoryError, false, Text(status));
    case StatusCode::kUnimplemented:
      TORCH_CHECK_NOT_IMPLEMENTED(false, Text(status));
    default:
      TORCH_CHECK(false, Text(status));
  }
}

void EnsureInitialized() {
  static const int registered = pthread_atfork(nullptr, nullptr, &MarkFork);
  (void)registered;
  TORCH_CHECK(!in_bad_fork,
              "neuron: the device was initialised before this process was forked; use the 'spawn' "
              "start method of multiprocessing");
  if (runtime::IsInitialized()) [[likely]]
    return;
  ThrowIfError(runtime::Initialize());
  runtime::SetOpNamer([](int32_t op) -> std::string_view {
    const auto rows = lowering::Rows();
    return op >= 0 && static_cast<size_t>(op) < rows.size() ? rows[static_cast<size_t>(op)].overload
                                                            : std::string_view();
  });
}

bool InBadFork() { return in_bad_fork; }

int DeviceCount() noexcept {
  static const int count = runtime::DeviceCount();  // of the machine: it does not change
  return count;
}

int CurrentDevice() noexcept { return current_device; }

void UncheckedSetCurrentDevice(int device) noexcept {
  if (device >= 0) current_device = device;
}

void SetCurrentDevice(int device) {
  TORCH_CHECK(device >= 0 && device < DeviceCount(), "neuron: no device ", device, "; there are ",
              DeviceCount(), " (torch.neuron.device_count())");
  current_device = device;
}

int ExchangeDevice(int device) {
  const int previous = current_device;
  if (device >= 0 && device != previous) SetCurrentDevice(device);
  return previous;
}

runtime::StreamId CurrentStream(int device) noexcept {
  const auto index = static_cast<size_t>(device);
  return index < current_streams.size() ? current_streams[index] : 0;
}

runtime::StreamId ExchangeStream(int device, runtime::StreamId stream) noexcept {
  const auto index = static_cast<size_t>(device);
  if (index >= current_streams.size()) current_streams.resize(index + 1, 0);
  return std::exchange(current_streams[index], stream);
}

}  // namespace neuron::pytorch
