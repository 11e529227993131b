// Streams and events of runtime.h.
#include <memory>

#include "runtime/event.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace neuron::runtime {
namespace {

// The host knows of it: what it does next comes after.
void Saw(const Event& event) {
  Device* found = FindDevice(event.device());
  if (found != nullptr && found->nrt().device_time()) found->queue().HostSaw(event.time_ps());
}

}  // namespace

StatusOr<StreamId> CreateStream(int device, int priority) {
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  return found->queue().CreateStream(priority);
}

bool QueryStream(int device, StreamId stream) {
  Device* found = FindDevice(device);
  return found == nullptr || found->queue().IsIdle(stream);
}

Status SynchronizeStream(int device, StreamId stream) {
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  return found->queue().Synchronize(stream);
}

Status SynchronizeDevice(int device) {
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  return found->queue().SynchronizeAll();
}

std::shared_ptr<Event> RecordEvent(int device, StreamId stream, bool timing) {
  auto event = std::make_shared<Event>(device, stream, timing);
  const StatusOr<Device*> found = GetDevice(device);
  // A point in a stream that does not exist has nothing to wait for.
  if (!found.ok() || !(*found)->queue().Submit(stream, RecordTask{event}, true).ok())
    event->Complete(0);
  return event;
}

bool QueryEvent(const Event& event) {
  if (!event.done()) return false;
  Saw(event);
  return true;
}

Status SynchronizeEvent(const Event& event) {
  NEURON_RETURN_IF_ERROR(CheckProcess());
  NEURON_RETURN_IF_ERROR(event.Wait());
  Saw(event);
  return OkStatus();
}

void AwaitEvent(const Event& event) {
  if (!CheckProcess().ok()) return;
  event.Await();
  Saw(event);
}

void StreamWaitEvent(int device, StreamId stream, std::shared_ptr<Event> event) {
  if (event == nullptr) return;
  if (event->device() == device && event->stream() == stream) return;  // in order anyway
  Device* found = FindDevice(device);
  if (found == nullptr) return;
  // An event that is done holds nothing up on the host; in modelled time what follows still begins
  // after it.
  const bool done = event->done();
  if (done && !(found->nrt().device_time() && event->device() == device)) return;
  // Unknown streams have nothing that could run too early.
  (void)found->queue().Submit(stream, WaitTask{std::move(event)}, done);
}

StatusOr<double> ElapsedMilliseconds(const Event& begin, const Event& end) {
  if (!begin.timing() || !end.timing())
    return FailedPrecondition(
        "elapsed_time: both events must be made with enable_timing=True before they are recorded");
  if (!begin.done() || !end.done())
    return FailedPrecondition(
        "elapsed_time: both events must be complete; call synchronize() on them first");
  if (begin.device() != end.device())
    return InvalidArgument("elapsed_time: the events are of neuron:", begin.device(),
                           " and neuron:", end.device(), ", whose clocks differ");
  return static_cast<double>(end.time_ps() - begin.time_ps()) * 1e-9;
}

}  // namespace neuron::runtime
