#include "runtime/queue.h"

#include <algorithm>
#include <utility>

namespace neuron::runtime {
namespace {

// A library below may need a deep stack in its execute call; it is address space until used.
constexpr size_t kStackBytes = size_t{64} << 20;

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

void Queue::RunLocked(std::unique_lock<std::mutex>& lock, StreamId id, Task task) {
  running_ = true;
  lock.unlock();
  Status status = runner_.Run(id, task);
  task = std::monostate();  // releases what it kept alive before anybody sees it completed
  lock.lock();
  running_ = false;
  Stream& stream = *FindLocked(id);
  ++stream.completed;
  if (!status.ok() && stream.failure.ok()) {
    stream.failure = std::move(status);
    stream.failure_order = ++failures_;
  }
  // Waking somebody for each task would cost more than the tasks.
  if (stream.completed >= stream.wake_at) {
    stream.wake_at = INT64_MAX;
    moved_.notify_all();
  } else if (exclusive_waiters_ > 0 || (space_waiters_ > 0 && pending_ < kMaxPending / 2)) {
    moved_.notify_all();
  }
}

void Queue::AppendLocked(std::unique_lock<std::mutex>& lock, Stream& stream, Task task) {
  if (pending_ >= kMaxPending) [[unlikely]] {
    ++space_waiters_;
    moved_.wait(lock, [&] { return pending_ < kMaxPending / 2 || stopping_; });
    --space_waiters_;
  }
  if (stopping_) [[unlikely]]
    return;
  stream.tasks.push_back(std::move(task));
  ++stream.submitted;
  ++pending_;
  if (!worker_started_) StartWorkerLocked();
}

Status Queue::Submit(StreamId id, Task task, bool may_run_inline) {
  std::unique_lock lock(mutex_);
  Stream* stream = FindLocked(id);
  if (stream == nullptr) return Unknown(id);
  if (may_run_inline && MayRunInlineLocked()) {
    ++stream->submitted;
    RunLocked(lock, id, std::move(task));
    if (pending_ > 0 && worker_asleep_) work_.notify_one();
    return OkStatus();
  }
  AppendLocked(lock, *stream, std::move(task));
  if (worker_asleep_) work_.notify_one();
  return OkStatus();
}

Status Queue::SubmitAndWait(StreamId id, Task task) {
  std::unique_lock lock(mutex_);
  Stream* stream = FindLocked(id);
  if (stream == nullptr) return Unknown(id);
  if (MayRunInlineLocked()) {
    ++stream->submitted;
    RunLocked(lock, id, std::move(task));
    if (pending_ > 0 && worker_asleep_) work_.notify_one();
    return TakeFailure(*stream);
  }
  AppendLocked(lock, *stream, std::move(task));
  WaitLocked(lock, *stream, stream->submitted);
  return TakeFailure(*stream);
}

void Queue::WaitLocked(std::unique_lock<std::mutex>& lock, Stream& stream, int64_t completed) {
  while (stream.completed < completed && !stopping_) {
    if (RunNextLocked(lock)) continue;
    stream.wake_at = std::min(stream.wake_at, completed);
    moved_.wait(lock);
  }
  if (pending_ > 0 && worker_asleep_) work_.notify_one();
}

Status Queue::TakeFailure(Stream& stream) { return std::exchange(stream.failure, OkStatus()); }

Status Queue::Synchronize(StreamId id) {
  std::unique_lock lock(mutex_);
  Stream* stream = FindLocked(id);
  if (stream == nullptr) return Unknown(id);
  WaitLocked(lock, *stream, stream->submitted);
  return TakeFailure(*stream);
}

Status Queue::SynchronizeAll() {
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < streams_.size(); ++i) WaitLocked(lock, streams_[i], streams_[i].submitted);
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
  for (size_t i = 0; i < streams_.size(); ++i) WaitLocked(lock, streams_[i], streams_[i].submitted);
}

bool Queue::IsIdle(StreamId id) {
  std::lock_guard lock(mutex_);
  const Stream* stream = FindLocked(id);
  return stream == nullptr || stream->completed == stream->submitted;
}

void Queue::RunExclusive(const std::function<void()>& function) {
  std::unique_lock lock(mutex_);
  ++exclusive_waiters_;
  moved_.wait(lock, [&] { return !running_; });
  --exclusive_waiters_;
  running_ = true;
  lock.unlock();
  function();
  lock.lock();
  running_ = false;
  if (exclusive_waiters_ > 0) moved_.notify_all();
  if (worker_asleep_) work_.notify_one();
}

void Queue::Poke() {
  std::lock_guard lock(mutex_);
  for (Stream& stream : streams_) stream.blocked = false;
  if (worker_asleep_) work_.notify_one();
}

// The highest priority (lowest number) first, in turn among equals.
Queue::Stream* Queue::NextLocked() {
  if (running_ || pending_ == 0 || exclusive_waiters_ > 0) return nullptr;
  Stream* best = nullptr;
  size_t best_index = 0;
  for (size_t step = 1; step <= streams_.size(); ++step) {
    const size_t index = (last_served_ + step) % streams_.size();
    Stream& stream = streams_[index];
    if (stream.tasks.empty() || stream.blocked) continue;
    if (const auto* wait = std::get_if<WaitTask>(&stream.tasks.front());
        wait != nullptr && !wait->event->DoneOrNotify(this)) {
      stream.blocked = true;
      continue;
    }
    if (best == nullptr || stream.priority < best->priority) {
      best = &stream;
      best_index = index;
    }
  }
  if (best != nullptr) last_served_ = best_index;
  return best;
}

bool Queue::RunNextLocked(std::unique_lock<std::mutex>& lock) {
  Stream* stream = NextLocked();
  if (stream == nullptr) return false;
  Task task = std::move(stream->tasks.front());
  stream->tasks.pop_front();
  --pending_;
  RunLocked(lock, static_cast<StreamId>(last_served_), std::move(task));
  return true;
}

void Queue::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (RunNextLocked(lock)) continue;
    worker_asleep_ = true;
    work_.wait(lock);
    worker_asleep_ = false;
  }
}

void Queue::StartWorkerLocked() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = pthread_create(
      &worker_, &attributes,
      [](void* queue) -> void* {
        pthread_setname_np(pthread_self(), "neuron-queue");
        static_cast<Queue*>(queue)->Work();
        return nullptr;
      },
      this);
  pthread_attr_destroy(&attributes);
  NEURON_CHECK(error == 0, "no thread can be started for the launch queue: error ", error);
  worker_started_ = true;
}

void Queue::Stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  moved_.notify_all();
  work_.notify_one();
  const bool join = std::exchange(worker_started_, false);
  lock.unlock();
  if (join) pthread_join(worker_, nullptr);
}

}  // namespace neuron::runtime
