// The launch queue of one device: streams are FIFOs, one worker thread drains them.
//
// One task runs at a time (compute of a core does not overlap compute). A caller whose stream is
// idle may run its task itself: handing a tiny program to a sleeping thread would cost more than
// the program. A caller that waits runs what is queued rather than wait for the worker to wake up.
// The worker starts with the first task that needs it and sleeps on a condition variable; nobody
// spins.
//
// The first failure of a stream is kept until somebody synchronises with it; later tasks still run.
// Tasks are destroyed on the thread that ran them, with no lock held.
#pragma once

#include <pthread.h>

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
  virtual Status Run(StreamId stream, Task& task) = 0;  // one call at a time
};

class Queue {
 public:
  static constexpr int64_t kMaxPending = 8192;  // then Submit waits: bounds memory kept alive

  Queue(int device, TaskRunner& runner);
  Queue(const Queue&) = delete;

  StreamId CreateStream(int priority);
  // Appends, or runs at once if the device is idle and `may_run_inline`. OK means accepted.
  Status Submit(StreamId stream, Task task, bool may_run_inline);
  // Submits, waits until the task has run, returns and clears the stream's first failure.
  Status SubmitAndWait(StreamId stream, Task task);
  Status Synchronize(StreamId stream);  // returns and clears the stream's first failure
  Status SynchronizeAll();              // of the whole device the earliest failure; clears all
  void WaitUntilIdle();                 // leaves failures where they are
  bool IsIdle(StreamId stream);
  bool HasStream(StreamId stream);
  // Runs `function` while no task runs.
  void RunExclusive(const std::function<void()>& function);
  void Poke();  // an event that a stream may wait for is done
  // Ends the worker after its current task; what is queued is forgotten, later calls do nothing.
  void Stop();

 private:
  struct Stream {
    int priority = 0;
    std::deque<Task> tasks;
    int64_t submitted = 0, completed = 0;
    int64_t wake_at = INT64_MAX;  // the lowest count somebody waits for
    bool blocked = false;         // its first task waits for an event
    Status failure;
    int64_t failure_order = 0;
  };

  bool MayRunInlineLocked() const {
    return pending_ == 0 && !running_ && exclusive_waiters_ == 0 && !stopping_;
  }
  Stream* FindLocked(StreamId stream);
  Status Unknown(StreamId stream) const;
  Stream* NextLocked();
  // Wakes nobody.
  void AppendLocked(std::unique_lock<std::mutex>& lock, Stream& stream, Task task);
  // Runs the task whose turn it is; false if there is none, or another thread runs one.
  bool RunNextLocked(std::unique_lock<std::mutex>& lock);
  // Runs one task with the lock released.
  void RunLocked(std::unique_lock<std::mutex>& lock, StreamId id, Task task);
  void WaitLocked(std::unique_lock<std::mutex>& lock, Stream& stream, int64_t completed);
  static Status TakeFailure(Stream& stream);
  void StartWorkerLocked();
  void Work();

  const int device_;
  TaskRunner& runner_;
  std::mutex mutex_;
  std::condition_variable work_;   // the worker: there may be something to do
  std::condition_variable moved_;  // others: a task has ended
  std::deque<Stream> streams_;     // by id; references stay valid
  int64_t pending_ = 0;            // queued, not yet taken
  size_t last_served_ = 0;
  int64_t failures_ = 0;
  int space_waiters_ = 0;      // for pending_ to fall
  int exclusive_waiters_ = 0;  // for running_ to end; no task starts meanwhile
  bool running_ = false;
  bool worker_asleep_ = false;
  bool worker_started_ = false;
  bool stopping_ = false;
  pthread_t worker_{};
};

}  // namespace neuron::runtime
