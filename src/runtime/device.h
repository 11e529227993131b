// One logical NeuronCore: memory, queue, loaded executables; runs the tasks of its queue.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "nrt/loader.h"
#include "runtime/allocator.h"
#include "runtime/queue.h"
#include "runtime/runtime.h"
#include "runtime/scalar_arena.h"

namespace neuron::runtime {

class LoadedExecutable;

class Device final : public TaskRunner {
 public:
  Device(const nrt::Library& nrt, int index, DeviceProperties properties);

  int index() const { return index_; }
  const nrt::Library& nrt() const { return nrt_; }
  const DeviceProperties& properties() const { return properties_; }
  Queue& queue() { return queue_; }
  Allocator& allocator() { return allocator_; }
  ScalarArena& scalars() { return scalars_; }

  // The library's device time; the host's clock where it has none.
  int64_t TimePs() const;

  void Register(LoadedExecutable* executable);
  void Unregister(LoadedExecutable* executable);

  Status Run(StreamId stream, Task& task) override;

 private:
  Status RunLaunch(Launch& launch);
  Status RunCopy(CopyTask& copy);
  void DropBindings(const std::vector<Segment*>& segments);

  const nrt::Library& nrt_;
  const int index_;
  const DeviceProperties properties_;
  Queue queue_;
  Allocator allocator_;
  ScalarArena scalars_;
  std::mutex executables_mutex_;
  std::set<LoadedExecutable*> executables_;
};

}  // namespace neuron::runtime
