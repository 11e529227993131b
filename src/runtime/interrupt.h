// Waits that a signal can end: whoever waits for the device asks now and then whether to go on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/status.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

// How long a signal may stay unnoticed. Asking takes a lock of the interpreter's.
inline constexpr std::chrono::milliseconds kInterruptPeriod{50};

// Sleeps until `changed` is notified (or, as any condition variable, without). The caller looks at
// what it waits for again. Not OK: the wait is interrupted. `lock` is held on return, and not while
// the check runs.
Status WaitForChange(std::unique_lock<std::mutex>& lock, std::condition_variable& changed);

// For a caller that works while it waits: asks once a period.
class InterruptTimer {
 public:
  Status Check(std::unique_lock<std::mutex>& lock);

 private:
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace neuron::runtime
