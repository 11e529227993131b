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

  // Modelled time that the core has computed for until now; 0 where the library tells none.
  int64_t ComputedPs() const;

  void Register(LoadedExecutable* executable);
  void Unregister(LoadedExecutable* executable);

  Status Run(StreamId stream, Task& task, int64_t* time_ps) override;

 private:
  Status RunLaunch(Launch& launch, int64_t* time_ps);
  Status RunCopy(CopyTask& copy, int64_t* time_ps);
  Status Transfer(CopyTask& copy);
  void DropBindings(const std::vector<Segment*>& segments);

  const nrt::Library& nrt_;
  const bool device_time_;  // the library tells modelled time
  // Modelled time of a copy; 0 where the library tells none.
  struct CopyTime {
    double fixed_ps = 0, per_byte_ps = 0;
    int64_t Of(int64_t bytes) const {
      return static_cast<int64_t>(fixed_ps + per_byte_ps * static_cast<double>(bytes));
    }
  };
  static CopyTime CopyTimeOf(const nrt::Library& nrt, bool host);
  const CopyTime host_copy_, device_copy_;
  const int index_;
  const DeviceProperties properties_;
  Queue queue_;
  Allocator allocator_;
  ScalarArena scalars_;
  std::mutex executables_mutex_;
  std::set<LoadedExecutable*> executables_;
};

}  // namespace neuron::runtime
