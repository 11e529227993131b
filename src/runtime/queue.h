// The launch queue of one device: streams are FIFOs, drained onto the core's hardware queues.
//
// A stream's tasks run in order, one at a time. A task occupies a lane (task.h): one launch, one
// transfer that writes HBM and one that reads it run at once, each from another stream. Threads are
// bound to nothing: whoever is free takes the next task whose stream and lane are. A stream alone
// needs one worker; others start when tasks of several streams can run at the same time.
//
// A caller whose stream is idle may run its task itself: handing a tiny program to a sleeping
// thread would cost more than the program. A caller that waits runs what stands in its stream
// rather than wait for a worker to wake up. Workers sleep on a condition variable; nobody spins.
//
// Modelled time: a task begins when its stream, its lane and what the host had seen end when it
// submitted the task are over. Streams and lanes have a clock each.
//
// The first failure of a stream is kept until somebody synchronises with it; later tasks still run.
// Tasks are destroyed on the thread that ran them, with no lock held.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "runtime/task.h"

namespace neuron::runtime {

class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  // One call at a time per stream and lane. `time_ps` is when the task begins in modelled time, and
  // is set to when it ends.
  virtual Status Run(StreamId stream, Task& task, int64_t* time_ps) = 0;
};

class Queue {
 public:
  // Launches and copies of a device that may wait to run; then Submit waits. Bounds the memory they
  // keep alive and how far the host runs ahead.
  static constexpr int64_t kMaxPending = 1024;

  Queue(int device, TaskRunner& runner);
  Queue(const Queue&) = delete;

  StreamId CreateStream(int priority);
  // Appends, or runs at once if stream and lane are idle and `may_run_inline`. OK means accepted.
  // Waits while the queue is full; fails if that wait is interrupted, and the task is not accepted.
  Status Submit(StreamId stream, Task task, bool may_run_inline);
  // Submits, waits until the task has run, returns and clears the stream's first failure. If the
  // wait is interrupted the task is taken back: when this returns nobody touches its memory.
  Status SubmitAndWait(StreamId stream, Task task);
  // Return and clear the stream's first failure; an interruption leaves everything as it is.
  Status Synchronize(StreamId stream);
  Status SynchronizeAll();  // of the whole device the earliest failure; clears all
  void WaitUntilIdle();     // not interruptible; leaves failures where they are
  bool IsIdle(StreamId stream);
  bool HasStream(StreamId stream);
  // Runs `function` while no task runs.
  void RunExclusive(const std::function<void()>& function);
  void Poke();  // an event that a stream may wait for is done
  // The host knows that the device has come to this modelled time: what it submits begins later.
  void HostSaw(int64_t time_ps);
  // Ends the workers after their current tasks; what is queued is forgotten, later calls do
  // nothing.
  void Stop();

 private:
  struct Entry {
    Task task;
    int64_t not_before_ps = 0;
  };
  struct Stream {
    int priority = 0;
    std::deque<Entry> tasks;
    int64_t submitted = 0, completed = 0;
    int64_t wake_at = INT64_MAX;  // the lowest count somebody waits for
    bool running = false;         // the task before the first of `tasks`
    bool blocked = false;         // its first task waits for an event
    int64_t time_ps = 0;          // modelled: when its last task ended
    Status failure;
    int64_t failure_order = 0;
  };
  struct LaneState {
    bool busy = false;
    int64_t pending = 0;  // tasks of all streams that need it
    int64_t time_ps = 0;  // modelled: when its last task ended
  };
  enum class Interruptible : bool { kNo, kYes };

  bool StoppedLocked() const { return exclusive_ || exclusive_waiters_ > 0 || stopping_; }
  bool MayRunInlineLocked(const Stream& stream, Lane lane) const;
  bool MayStartLocked(Stream& stream);  // its first task
  Stream* FindLocked(StreamId stream);
  Status Unknown(StreamId stream) const;
  // Index of the stream whose first task is to start next, of those that need `lane` if it is not
  // kNone; kNoStream.
  size_t NextLocked(Lane lane = Lane::kNone);
  // Moves from `task` if it returns OK.
  Status AppendLocked(std::unique_lock<std::mutex>& lock, Stream& stream, Task& task);
  void RunInlineLocked(std::unique_lock<std::mutex>& lock, Stream& stream, StreamId id, Task& task);
  void RunFirstLocked(std::unique_lock<std::mutex>& lock, size_t index);
  // Runs one task with the lock released, and destroys it.
  void RunLocked(std::unique_lock<std::mutex>& lock, Stream& stream, StreamId id, Lane lane,
                 Task& task, int64_t not_before_ps);
  Status WaitLocked(std::unique_lock<std::mutex>& lock, StreamId id, int64_t completed,
                    Interruptible interruptible);
  void TakeBackLocked(std::unique_lock<std::mutex>& lock, Stream& stream, StreamId id,
                      int64_t order);
  static Status TakeFailure(Stream& stream);
  // Lets another thread look if there is a task that may start.
  void OfferLocked();
  void WakeLocked();
  void StartWorkerLocked();
  void Work();

  const int device_;
  TaskRunner& runner_;
  std::mutex mutex_;
  std::condition_variable work_;   // workers: there may be something to do
  std::condition_variable moved_;  // others: a task has ended
  std::deque<Stream> streams_;     // by id; references stay valid
  std::array<LaneState, kNumLanes> lanes_;
  std::atomic<int64_t> host_ps_{0};  // modelled time that the host has seen
  int64_t pending_ = 0;              // queued, not yet taken
  int running_ = 0;
  int busy_streams_ = 0;  // with a task that runs or waits
  size_t last_served_ = 0;
  int64_t failures_ = 0;
  int space_waiters_ = 0;      // for pending_ to fall
  int exclusive_waiters_ = 0;  // for running_ to fall to 0; no task starts meanwhile
  bool exclusive_ = false;
  bool stopping_ = false;
  int idle_workers_ = 0, wakes_ = 0;  // asleep, and how many of them are being woken
  size_t working_ = 0;                // workers that run a task
  std::vector<pthread_t> workers_;
};

}  // namespace neuron::runtime
