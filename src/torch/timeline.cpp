#include "torch/timeline.h"

#include <mutex>
#include <utility>

#include "runtime/runtime.h"

namespace neuron::pytorch {
namespace {

std::mutex mutex;
std::vector<RecordedLaunch> launches;  // guarded by mutex: launches end on the device's worker

}  // namespace

void StartTimeline() {
  {
    const std::lock_guard lock(mutex);
    launches.clear();
  }
  runtime::SetLaunchObserver([](int device, const char* op, const runtime::Executable& executable,
                                int64_t start_ps, int64_t duration_ps) {
    std::string events = executable.TimelineJson();
    const std::lock_guard lock(mutex);
    launches.push_back({device, op, start_ps, duration_ps, std::move(events)});
  });
}

std::vector<RecordedLaunch> StopTimeline() {
  runtime::SetLaunchObserver(nullptr);
  const std::lock_guard lock(mutex);
  return std::exchange(launches, {});
}

}  // namespace neuron::pytorch
