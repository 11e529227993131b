#include "runtime/observer.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace neuron::runtime {
namespace {

std::atomic<bool> has_observer{false};
std::mutex mutex;
std::shared_ptr<const LaunchObserver> current;  // NOLINT: guarded by mutex

}  // namespace

bool HasLaunchObserver() { return has_observer.load(std::memory_order_relaxed); }

void SetLaunchObserver(LaunchObserver observer) {
  std::lock_guard lock(mutex);
  has_observer.store(observer != nullptr, std::memory_order_relaxed);
  current = observer ? std::make_shared<const LaunchObserver>(std::move(observer)) : nullptr;
}

void NotifyLaunchObserver(int device, const char* op, const Executable& executable,
                          int64_t start_ps, int64_t duration_ps) {
  std::shared_ptr<const LaunchObserver> observer;
  {
    std::lock_guard lock(mutex);
    observer = current;
  }
  if (observer) (*observer)(device, op, executable, start_ps, duration_ps);
}

}  // namespace neuron::runtime
