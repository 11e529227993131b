#include "runtime/interrupt.h"

#include <atomic>

namespace neuron::runtime {
namespace {

std::atomic<InterruptCheck> check{nullptr};

Status Ask(std::unique_lock<std::mutex>& lock, InterruptCheck ask) {
  lock.unlock();
  Status status = ask();
  lock.lock();
  return status;
}

}  // namespace

void SetInterruptCheck(InterruptCheck function) { check = function; }

Status WaitForChange(std::unique_lock<std::mutex>& lock, std::condition_variable& changed) {
  const InterruptCheck ask = check.load(std::memory_order_relaxed);
  if (ask == nullptr) {
    changed.wait(lock);
    return OkStatus();
  }
  if (changed.wait_for(lock, kInterruptPeriod) == std::cv_status::no_timeout) return OkStatus();
  return Ask(lock, ask);
}

Status InterruptTimer::Check(std::unique_lock<std::mutex>& lock) {
  const InterruptCheck ask = check.load(std::memory_order_relaxed);
  if (ask == nullptr) return OkStatus();
  const auto now = std::chrono::steady_clock::now();
  if (asked_ == std::chrono::steady_clock::time_point()) asked_ = now;
  if (now - asked_ < kInterruptPeriod) return OkStatus();
  asked_ = now;
  return Ask(lock, ask);
}

}  // namespace neuron::runtime
