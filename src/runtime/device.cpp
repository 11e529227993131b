#include "runtime/device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "runtime/errors.h"
#include "runtime/loaded_executable.h"
#include "runtime/observer.h"
#include "runtime/segment.h"

namespace neuron::runtime {
namespace {

int64_t HostNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Place {
  Segment* segment;
  size_t offset;
};
StatusOr<Place> Locate(int device, const void* address, int64_t bytes) {
  Segment* segment = Segments().Find(address);
  if (segment == nullptr || segment->device != device)
    return InvalidArgument("copy: ", address, " is no memory of neuron:", device);
  const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(address) - segment->base);
  if (bytes > segment->bytes - offset)
    return OutOfRange("copy: ", bytes, " bytes at ", address, " of neuron:", device,
                      " go beyond their segment, which has ", segment->bytes - offset);
  return Place{segment, static_cast<size_t>(offset)};
}

}  // namespace

Device::Device(const nrt::Library& nrt, int index, DeviceProperties properties)
    : nrt_(nrt),
      device_time_(nrt.device_time()),
      host_copy_(CopyTimeOf(nrt, /*host=*/true)),
      device_copy_(CopyTimeOf(nrt, /*host=*/false)),
      index_(index),
      properties_(std::move(properties)),
      queue_(index, *this),
      allocator_(nrt, index, properties_.total_memory,
                 {.synchronize = [this] { queue_.WaitUntilIdle(); },
                  .before_release = [this](const auto& segments) { DropBindings(segments); },
                  .record_event =
                      [this](StreamId stream) {
                        auto event = std::make_shared<Event>(index_, stream, /*timing=*/false);
                        if (!queue_.Submit(stream, RecordTask{event}, true).ok())
                          event->Complete(0);
                        return event;
                      }}),
      scalars_(nrt, index) {}

Device::CopyTime Device::CopyTimeOf(const nrt::Library& nrt, bool host) {
  if (!nrt.device_time() || nrt.nrt_emulator_copy_duration_ps == nullptr) return {};
  constexpr uint64_t kBytes = uint64_t{1} << 30;
  const auto fixed = static_cast<double>(nrt.nrt_emulator_copy_duration_ps(0, host));
  const auto long_one = static_cast<double>(nrt.nrt_emulator_copy_duration_ps(kBytes, host));
  return {fixed, (long_one - fixed) / static_cast<double>(kBytes)};
}

int64_t Device::ComputedPs() const {
  return device_time_ ? static_cast<int64_t>(nrt_.nrt_emulator_device_time_ps(index_)) : 0;
}

void Device::Register(LoadedExecutable* executable) {
  std::lock_guard lock(executables_mutex_);
  executables_.insert(executable);
}

void Device::Unregister(LoadedExecutable* executable) {
  std::lock_guard lock(executables_mutex_);
  executables_.erase(executable);
}

void Device::DropBindings(const std::vector<Segment*>& segments) {
  queue_.RunExclusive([&] {
    std::lock_guard lock(executables_mutex_);
    for (LoadedExecutable* executable : executables_) executable->bindings().Drop(segments);
  });
}

Status Device::Run(StreamId, Task& task, int64_t* time_ps) {
  if (auto* launch = std::get_if<Launch>(&task)) [[likely]]
    return RunLaunch(*launch, time_ps);
  if (auto* copy = std::get_if<CopyTask>(&task)) return RunCopy(*copy, time_ps);
  if (auto* record = std::get_if<RecordTask>(&task)) {
    Event& event = *record->event;
    event.Complete(device_time_ ? *time_ps : event.timing() ? HostNs() * 1000 : 0);
  } else if (auto* wait = std::get_if<WaitTask>(&task)) {
    // Clocks of other devices are not comparable.
    if (device_time_ && wait->event->device() == index_)
      *time_ps = std::max(*time_ps, wait->event->time_ps());
  }
  return OkStatus();
}

Status Device::RunLaunch(Launch& launch, int64_t* time_ps) {
  auto& executable = static_cast<LoadedExecutable&>(*launch.executable);
  StatusOr<Bindings::Sets> sets = executable.bindings().Bind(launch.buffers, launch.scalars);
  if (!sets.ok()) return sets.status().WithPrefix(StrCat(launch.op, ": "));
  const bool observed = HasLaunchObserver();
  const bool timed = executable.WantsTime() || (observed && !device_time_);
  const int64_t start_ns = timed ? HostNs() : 0;
  const NRT_STATUS status = nrt_.nrt_execute(executable.model(), sets->inputs, sets->outputs);
  const int64_t host_ns = timed ? HostNs() - start_ns : -1;
  executable.AddTime(launch, host_ns);
  const int64_t start_ps = device_time_ ? *time_ps : start_ns * 1000;
  if (device_time_ && status == NRT_SUCCESS) [[likely]]
    *time_ps += static_cast<int64_t>(nrt_.nrt_emulator_last_duration_ps(executable.model()));
  if (status != NRT_SUCCESS) [[unlikely]]
    return nrt_.Check(status, "nrt_execute").WithPrefix(StrCat(launch.op, ": "));
  if (observed)
    NotifyLaunchObserver(index_, launch.op, executable, start_ps,
                         device_time_ ? *time_ps - start_ps : host_ns * 1000);
  if (launch.error_record == nullptr) [[likely]]
    return OkStatus();
  ErrorRecord record{};
  NEURON_ASSIGN_OR_RETURN(const Place place, Locate(index_, launch.error_record, sizeof(record)));
  if (place.segment->host_addressable) {
    std::memcpy(record.data(), launch.error_record, sizeof(record));
  } else {
    NEURON_RETURN_IF_ERROR(nrt_.Check(
        nrt_.nrt_tensor_read(place.segment->tensor, record.data(), place.offset, sizeof(record)),
        "nrt_tensor_read of the error record"));
  }
  return FromErrorRecord(record, launch.op);
}

Status Device::RunCopy(CopyTask& copy, int64_t* time_ps) {
  const bool host = copy.kind == CopyTask::Kind::kToDevice || copy.kind == CopyTask::Kind::kToHost;
  *time_ps += (host ? host_copy_ : device_copy_).Of(copy.bytes);
  return Transfer(copy);
}

Status Device::Transfer(CopyTask& copy) {
  const auto bytes = static_cast<size_t>(copy.bytes);
  switch (copy.kind) {
    case CopyTask::Kind::kToDevice: {
      NEURON_ASSIGN_OR_RETURN(const Place to, Locate(index_, copy.to, copy.bytes));
      const void* from = copy.staged.empty() ? copy.from : copy.staged.data();
      return nrt_.Check(nrt_.nrt_tensor_write(to.segment->tensor, from, to.offset, bytes),
                        "nrt_tensor_write");
    }
    case CopyTask::Kind::kToHost: {
      NEURON_ASSIGN_OR_RETURN(const Place from, Locate(index_, copy.from, copy.bytes));
      return nrt_.Check(nrt_.nrt_tensor_read(from.segment->tensor, copy.to, from.offset, bytes),
                        "nrt_tensor_read");
    }
    case CopyTask::Kind::kOnDevice: {
      NEURON_ASSIGN_OR_RETURN(const Place from, Locate(index_, copy.from, copy.bytes));
      NEURON_ASSIGN_OR_RETURN(const Place to, Locate(index_, copy.to, copy.bytes));
      if (nrt_.nrt_tensor_copy != nullptr)
        return nrt_.Check(nrt_.nrt_tensor_copy(from.segment->tensor, from.offset,
                                               to.segment->tensor, to.offset, bytes),
                          "nrt_tensor_copy");
      std::string bounce(bytes, '\0');
      NEURON_RETURN_IF_ERROR(
          nrt_.Check(nrt_.nrt_tensor_read(from.segment->tensor, bounce.data(), from.offset, bytes),
                     "nrt_tensor_read"));
      return nrt_.Check(nrt_.nrt_tensor_write(to.segment->tensor, bounce.data(), to.offset, bytes),
                        "nrt_tensor_write");
    }
    case CopyTask::Kind::kFill: {
      NEURON_ASSIGN_OR_RETURN(const Place to, Locate(index_, copy.to, copy.bytes));
      if (nrt_.nrt_tensor_memset != nullptr)
        return nrt_.Check(nrt_.nrt_tensor_memset(to.segment->tensor, to.offset, copy.byte, bytes),
                          "nrt_tensor_memset");
      const std::string data(bytes, static_cast<char>(copy.byte));
      return nrt_.Check(nrt_.nrt_tensor_write(to.segment->tensor, data.data(), to.offset, bytes),
                        "nrt_tensor_write");
    }
  }
  return Internal("copy: unknown kind");
}

}  // namespace neuron::runtime
