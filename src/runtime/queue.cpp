#include "runtime/queue.h"

#include <algorithm>
#include <utility>

#include "runtime/interrupt.h"

namespace neuron::runtime {
namespace {

// A library below may need a deep stack in its execute call; it is address space until used.
constexpr size_t kStackBytes = size_t{64} << 20;
constexpr size_t kMaxWorkers = kNumLanes;
// A full queue lets the host go on when it has fallen to this: waking it for each task would cost
// more than the tasks.
constexpr int64_t kResumePending = Queue::kMaxPending / 8 * 7;
constexpr size_t kNoStream = SIZE_MAX;

}  // namespace

Queue::Queue(int device, TaskRunner& runner) : device_(device), runner_(runner) {
  streams_.emplace_back();  // 0: the default stream
}

StreamId Queue::CreateStream(int priority) {
  std::lock_guard lock(mutex_);
  streams_.emplace_back().priority = priority;
  return static_cast<StreamId>(streams_.size()) - 1;
}

Queue::Stream* Queue::FindLocked(StreamId stream) {
  return stream >= 0 && static_cast<size_t>(stream) < streams_.size()
             ? &streams_[static_cast<size_t>(stream)]
             : nullptr;
}

Status Queue::Unknown(StreamId stream) const {
  return InvalidArgument("neuron:", device_, " has no stream ", stream);
}

bool Queue::HasStream(StreamId stream) {
  std::lock_guard lock(mutex_);
  return FindLocked(stream) != nullptr;
}

void Queue::HostSaw(int64_t time_ps) {
  int64_t seen = host_ps_.load(std::memory_order_relaxed);
  while (seen < time_ps &&
         !host_ps_.compare_exchange_weak(seen, time_ps, std::memory_order_relaxed)) {
  }
}

bool Queue::MayRunInlineLocked(const Stream& stream, Lane lane) const {
  if (stream.running || !stream.tasks.empty() || StoppedLocked()) return false;
  if (lane == Lane::kNone) return true;
  const LaneState& state = lanes_[static_cast<size_t>(lane)];
  return !state.busy && state.pending == 0;
}

void Queue::RunLocked(std::unique_lock<std::mutex>& lock, Stream& stream, StreamId id, Lane lane,
                      Task& task, int64_t not_before_ps) {
  LaneState* const state = lane == Lane::kNone ? nullptr : &lanes_[static_cast<size_t>(lane)];
  int64_t time_ps = std::max(stream.time_ps, not_before_ps);
  stream.running = true;
  ++running_;
  if (state != nullptr) {
    state->busy = true;
    time_ps = std::max(time_ps, state->time_ps);
  }
  if (busy_streams_ > 1) [[unlikely]]
    OfferLocked();
  lock.unlock();
  Status status = runner_.Run(id, task, &time_ps);
  task = std::monostate();  // releases what it kept alive before anybody sees it completed
  lock.lock();
  --running_;
  if (state != nullptr) {
    state->busy = false;
    state->time_ps = time_ps;
  }
  stream.time_ps = time_ps;
  stream.running = false;
  ++stream.completed;
  if (stream.tasks.empty()) --busy_streams_;
  if (!status.ok() && stream.failure.ok()) {
    stream.failure = std::move(status);
    stream.failure_order = ++failures_;
  }
  // Waking somebody for each task would cost more than the tasks.
  if (stream.completed >= stream.wake_at) {
    stream.wake_at = INT64_MAX;
    moved_.notify_all();
  } else if ((exclusive_waiters_ > 0 && running_ == 0) ||
             (space_waiters_ > 0 && pending_ < kResumePending)) {
    moved_.notify_all();
  }
}

void Queue::RunInlineLocked(std::unique_lock<std::mutex>& lock, Stream& stream, StreamId id,
                            Task& task) {
  ++stream.submitted;
  ++busy_streams_;
  RunLocked(lock, stream, id, LaneOf(task), task, host_ps_.load(std::memory_order_relaxed));
  if (pending_ > 0) OfferLocked();
}

Status Queue::AppendLocked(std::unique_lock<std::mutex>& lock, Stream& stream, Task& task) {
  const Lane lane = LaneOf(task);
  // Points of events are small, and what cannot fail must not be interrupted: they always fit.
  if (pending_ >= kMaxPending && lane != Lane::kNone) [[unlikely]] {
    ++space_waiters_;
    Status status;
    while (status.ok() && pending_ >= kResumePending && !stopping_)
      status = WaitForChange(lock, moved_);
    --space_waiters_;
    NEURON_RETURN_IF_ERROR(status);
  }
  if (stopping_) [[unlikely]]
    return OkStatus();
  if (stream.tasks.empty() && !stream.running) ++busy_streams_;
  stream.tasks.push_back({std::move(task), host_ps_.load(std::memory_order_relaxed)});
  ++stream.submitted;
  ++pending_;
  if (lane != Lane::kNone) ++lanes_[static_cast<size_t>(lane)].pending;
  return OkStatus();
}

Status Queue::Submit(StreamId id, Task task, bool may_run_inline) {
  std::unique_lock lock(mutex_);
  Stream* stream = FindLocked(id);
  if (stream == nullptr) return Unknown(id);
  if (may_run_inline && MayRunInlineLocked(*stream, LaneOf(task))) {
    RunInlineLocked(lock, *stream, id, task);
    return OkStatus();
  }
  NEURON_RETURN_IF_ERROR(AppendLocked(lock, *stream, task));
  // Behind others of its stream it is theirs to take.
  if (stream->tasks.size() == 1 && !stream->running) OfferLocked();
  return OkStatus();
}

Status Queue::SubmitAndWait(StreamId id, Task task) {
  std::unique_lock lock(mutex_);
  Stream* stream = FindLocked(id);
  if (stream == nullptr) return Unknown(id);
  if (MayRunInlineLocked(*stream, LaneOf(task))) {
    RunInlineLocked(lock, *stream, id, task);
    HostSaw(stream->time_ps);
    return TakeFailure(*stream);
  }
  NEURON_RETURN_IF_ERROR(AppendLocked(lock, *stream, task));
  const int64_t order = stream->submitted;
  if (Status status = WaitLocked(lock, id, order, Interruptible::kYes); !status.ok()) {
    TakeBackLocked(lock, *stream, id, order);
    return status;
  }
  return TakeFailure(*stream);
}

void Queue::TakeBackLocked(std::unique_lock<std::mutex>& lock, Stream& stream, StreamId id,
                           int64_t order) {
  const int64_t first = stream.completed + (stream.running ? 1 : 0) + 1;  // of those that wait
  if (order >= first) {
    Task task = std::exchange(stream.tasks[static_cast<size_t>(order - first)].task, {});
    if (const Lane lane = LaneOf(task); lane != Lane::kNone)
      --lanes_[static_cast<size_t>(lane)].pending;
    lock.unlock();
    task = std::monostate();
    lock.lock();
  } else {
    (void)WaitLocked(lock, id, order, Interruptible::kNo);  // it runs
  }
}

// Runs what stands in the stream as long as that may start, and waits otherwise. Where another
// stream is first on the same hardware queue, its task is run: ours cannot start before it.
Status Queue::WaitLocked(std::unique_lock<std::mutex>& lock, StreamId id, int64_t completed,
                         Interruptible interruptible) {
  Stream& stream = *FindLocked(id);
  InterruptTimer timer;
  Status status;
  while (stream.completed < completed && !stopping_ && status.ok()) {
    if (MayStartLocked(stream)) {
      const Lane lane = LaneOf(stream.tasks.front().task);
      const bool alone = lane == Lane::kNone || busy_streams_ == 1;
      RunFirstLocked(lock, alone ? static_cast<size_t>(id) : NextLocked(lane));
      if (interruptible == Interruptible::kYes && stream.completed < completed)
        status = timer.Check(lock);
      continue;
    }
    if (pending_ > 0) OfferLocked();
    stream.wake_at = std::min(stream.wake_at, completed);
    if (interruptible == Interruptible::kYes)
      status = WaitForChange(lock, moved_);
    else
      moved_.wait(lock);
  }
  if (pending_ > 0) OfferLocked();
  if (status.ok()) HostSaw(stream.time_ps);
  return status;
}

Status Queue::TakeFailure(Stream& stream) {
  if (stream.failure.ok()) [[likely]]
    return OkStatus();
  return std::exchange(stream.failure, OkStatus());
}

Status Queue::Synchronize(StreamId id) {
  std::unique_lock lock(mutex_);
  Stream* stream = FindLocked(id);
  if (stream == nullptr) return Unknown(id);
  NEURON_RETURN_IF_ERROR(WaitLocked(lock, id, stream->submitted, Interruptible::kYes));
  return TakeFailure(*stream);
}

Status Queue::SynchronizeAll() {
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < streams_.size(); ++i)
    NEURON_RETURN_IF_ERROR(
        WaitLocked(lock, static_cast<StreamId>(i), streams_[i].submitted, Interruptible::kYes));
  Status first;
  int64_t order = 0;
  for (Stream& stream : streams_) {
    if (stream.failure.ok()) continue;
    const bool earlier = first.ok() || stream.failure_order < order;
    Status failure = TakeFailure(stream);
    if (!earlier) continue;
    first = std::move(failure);
    order = stream.failure_order;
  }
  return first;
}

void Queue::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < streams_.size(); ++i)
    (void)WaitLocked(lock, static_cast<StreamId>(i), streams_[i].submitted, Interruptible::kNo);
}

bool Queue::IsIdle(StreamId id) {
  std::lock_guard lock(mutex_);
  const Stream* stream = FindLocked(id);
  if (stream == nullptr) return true;
  if (stream->completed != stream->submitted) return false;
  HostSaw(stream->time_ps);
  return true;
}

void Queue::RunExclusive(const std::function<void()>& function) {
  std::unique_lock lock(mutex_);
  ++exclusive_waiters_;
  moved_.wait(lock, [&] { return running_ == 0 && !exclusive_; });
  --exclusive_waiters_;
  exclusive_ = true;
  lock.unlock();
  function();
  lock.lock();
  exclusive_ = false;
  if (exclusive_waiters_ > 0) moved_.notify_all();
  if (pending_ > 0) OfferLocked();
}

void Queue::Poke() {
  std::lock_guard lock(mutex_);
  for (Stream& stream : streams_) stream.blocked = false;
  OfferLocked();
}

bool Queue::MayStartLocked(Stream& stream) {
  if (stream.running || stream.blocked || stream.tasks.empty() || StoppedLocked()) return false;
  const Task& task = stream.tasks.front().task;
  if (const Lane lane = LaneOf(task); lane != Lane::kNone)
    return !lanes_[static_cast<size_t>(lane)].busy;
  const auto* wait = std::get_if<WaitTask>(&task);
  stream.blocked = wait != nullptr && !wait->event->DoneOrNotify(this);
  return !stream.blocked;
}

// The highest priority (lowest number) first, in turn among equals.
size_t Queue::NextLocked(Lane lane) {
  if (pending_ == 0 || StoppedLocked()) return kNoStream;
  size_t best = kNoStream;
  for (size_t step = 1; step <= streams_.size(); ++step) {
    const size_t index = (last_served_ + step) % streams_.size();
    Stream& stream = streams_[index];
    if (!MayStartLocked(stream)) continue;
    if (lane != Lane::kNone && LaneOf(stream.tasks.front().task) != lane) continue;
    if (best == kNoStream || stream.priority < streams_[best].priority) best = index;
  }
  return best;
}

void Queue::RunFirstLocked(std::unique_lock<std::mutex>& lock, size_t index) {
  Stream& stream = streams_[index];
  last_served_ = index;
  Entry entry = std::move(stream.tasks.front());
  stream.tasks.pop_front();
  --pending_;
  const Lane lane = LaneOf(entry.task);
  if (lane != Lane::kNone) --lanes_[static_cast<size_t>(lane)].pending;
  RunLocked(lock, stream, static_cast<StreamId>(index), lane, entry.task, entry.not_before_ps);
}

void Queue::OfferLocked() {
  if (NextLocked() != kNoStream) WakeLocked();
}

void Queue::WakeLocked() {
  if (idle_workers_ > wakes_) {
    ++wakes_;
    work_.notify_one();
  } else if (wakes_ == 0 && working_ == workers_.size() && working_ < kMaxWorkers) {
    StartWorkerLocked();
  }
}

void Queue::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (const size_t index = NextLocked(); index != kNoStream) {
      ++working_;
      RunFirstLocked(lock, index);
      --working_;
      continue;
    }
    ++idle_workers_;
    work_.wait(lock, [&] { return wakes_ > 0 || stopping_; });
    --idle_workers_;
    if (wakes_ > 0) --wakes_;
  }
}

void Queue::StartWorkerLocked() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t worker{};
  const int error = pthread_create(
      &worker, &attributes,
      [](void* queue) -> void* {
        pthread_setname_np(pthread_self(), "neuron-queue");
        static_cast<Queue*>(queue)->Work();
        return nullptr;
      },
      this);
  pthread_attr_destroy(&attributes);
  NEURON_CHECK(error == 0, "no thread can be started for the launch queue: error ", error);
  workers_.push_back(worker);
}

void Queue::Stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  moved_.notify_all();
  work_.notify_all();
  const std::vector<pthread_t> workers = std::exchange(workers_, {});
  lock.unlock();
  for (const pthread_t worker : workers) pthread_join(worker, nullptr);
}

}  // namespace neuron::runtime
