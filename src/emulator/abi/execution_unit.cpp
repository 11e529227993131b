#include "emulator/abi/execution_unit.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <vector>

namespace neuron::emulator::abi {
namespace {

void Signal(int fd) {
  const uint64_t one = 1;
  // A counter at its limit, or a descriptor that was closed since: nobody to tell.
  (void)!write(fd, &one, sizeof one);
}

// Whether a unit cannot go on after a request that ended so: what its inputs or its data caused
// leaves the next one unharmed.
bool IsFatal(NRT_STATUS status) {
  switch (status) {
    case NRT_TIMEOUT:
    case NRT_HW_ERROR:
    case NRT_EXEC_UNIT_UNRECOVERABLE:
    case NRT_EXEC_HW_ERR_COLLECTIVES:
    case NRT_EXEC_HW_ERR_HBM_UE:
    case NRT_EXEC_HW_ERR_NC_UE:
    case NRT_EXEC_HW_ERR_DMA_ABORT:
    case NRT_EXEC_SW_NQ_OVERFLOW:
    case NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE:
      return true;
    default:
      return false;
  }
}

Outcome Lost() {
  return {NRT_EXEC_UNIT_UNRECOVERABLE,
          Internal("the execution unit met a fatal error before; restart the process")};
}

}  // namespace

ExecutionUnit::~ExecutionUnit() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Outcome ExecutionUnit::Schedule(const char* call, Work work, NRT_STATUS* ret, nrta_seq_t* seq) {
  if (ret == nullptr || seq == nullptr) return InvalidArgument("ret or seq is null");
  const std::lock_guard lock(mutex_);
  if (lost_) return Lost();
  if (closing_) return {NRT_CLOSED, FailedPrecondition("called after nrt_close")};
  if (requests_.size() >= kDepth)
    return {NRT_QUEUE_FULL, Unavailable(kDepth,
                                        " requests are in the queue; try again when one "
                                        "is completed")};
  requests_.push_back({call, std::move(work), ret});
  *seq = IdOf(++scheduled_);
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.notify_one();
  return {};
}

void ExecutionUnit::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !requests_.empty(); });
    if (requests_.empty()) return;
    Request& request = requests_.front();  // stays where it is while others are appended
    NRT_STATUS status = NRT_SUCCESS;
    if (closing_) {
      status = NRT_CLOSED;
    } else if (lost_) {
      status = Report(request.call, Lost());
    } else {
      lock.unlock();
      status = Call(request.call, request.work);
      lock.lock();
    }
    *request.ret = status;
    lost_ = lost_ || IsFatal(status);
    requests_.pop_front();
    ++completed_;
    std::vector<int> signalled;
    const auto last = watched_.upper_bound(completed_);
    for (auto it = watched_.begin(); it != last; ++it) signalled.push_back(it->second);
    watched_.erase(watched_.begin(), last);
    if (watch_all_ >= 0) signalled.push_back(watch_all_);
    for (const int fd : signalled) Signal(fd);
  }
}

nrta_seq_t ExecutionUnit::last_completed() {
  const std::lock_guard lock(mutex_);
  return IdOf(completed_);
}

bool ExecutionUnit::Knows(nrta_seq_t seq) {
  const std::lock_guard lock(mutex_);
  const uint64_t number = seq & NRTA_SEQ_NUM_MAX;
  return number > 0 && number <= scheduled_;
}

Outcome ExecutionUnit::WatchRequest(nrta_seq_t seq, int fd) {
  const std::lock_guard lock(mutex_);
  const uint64_t number = seq & NRTA_SEQ_NUM_MAX;
  if (fd < 0) {
    watched_.erase(number);
  } else if (number <= completed_) {
    Signal(fd);
  } else {
    watched_.emplace(number, fd);
  }
  return {};
}

void ExecutionUnit::WatchAll(int fd) {
  const std::lock_guard lock(mutex_);
  watch_all_ = fd < 0 ? -1 : fd;
}

}  // namespace neuron::emulator::abi
