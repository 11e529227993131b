#include "runtime/event.h"

#include "runtime/interrupt.h"
#include "runtime/queue.h"

namespace neuron::runtime {

void Event::Complete(int64_t time_ps) {
  std::vector<Queue*> queues;
  {
    std::lock_guard lock(mutex_);
    time_ps_ = time_ps;
    done_.store(true, std::memory_order_release);
    queues.swap(waiting_queues_);
  }
  condition_.notify_all();
  for (Queue* queue : queues) queue->Poke();
}

Status Event::Wait() const {
  if (done()) return OkStatus();
  std::unique_lock lock(mutex_);
  while (!done()) NEURON_RETURN_IF_ERROR(WaitForChange(lock, condition_));
  return OkStatus();
}

void Event::Await() const {
  if (done()) return;
  std::unique_lock lock(mutex_);
  condition_.wait(lock, [&] { return done(); });
}

bool Event::DoneOrNotify(Queue* queue) {
  if (done()) return true;
  std::lock_guard lock(mutex_);
  if (done()) return true;
  waiting_queues_.push_back(queue);
  return false;
}

}  // namespace neuron::runtime
