// A point in a stream. Thread safe; shared between the stream that reaches it and who waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/runtime.h"

namespace neuron::runtime {

class Queue;

class Event {
 public:
  Event(int device, StreamId stream, bool timing)
      : device_(device), stream_(stream), timing_(timing) {}

  bool done() const { return done_.load(std::memory_order_acquire); }
  int device() const { return device_; }
  StreamId stream() const { return stream_; }
  bool timing() const { return timing_; }
  // On the device's modelled time line, the host's clock where there is none. Requires done().
  int64_t time_ps() const { return time_ps_; }

  // The stream reached it at this device time: wakes who waits. Once.
  void Complete(int64_t time_ps);
  Status Wait() const;  // not OK: interrupted (SetInterruptCheck)
  void Await() const;
  // True if the event is done already; else `queue` is poked when it is.
  bool DoneOrNotify(Queue* queue);

 private:
  const int device_;
  const StreamId stream_;
  const bool timing_;
  int64_t time_ps_ = 0;
  std::atomic<bool> done_{false};
  mutable std::mutex mutex_;
  mutable std::condition_variable condition_;
  std::vector<Queue*> waiting_queues_;
};

}  // namespace neuron::runtime
