// Enqueue of runtime.h.
#include <utility>

#include "base/environment.h"
#include "runtime/loaded_executable.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

Status Enqueue(int device, StreamId stream, Launch launch) {
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  auto* executable = static_cast<LoadedExecutable*>(launch.executable.get());
  if (executable == nullptr) return InvalidArgument(launch.op, ": a launch needs an executable");
  if (&executable->device() != found) [[unlikely]]
    return InvalidArgument(launch.op,
                           ": the executable was loaded on neuron:", executable->device().index(),
                           ", the launch is on neuron:", device);
  const compiler::Signature& signature = executable->signature();
  if (launch.buffers.size() != signature.buffers.size()) [[unlikely]]
    return InvalidArgument(launch.op, ": the program has ", signature.buffers.size(),
                           " buffers, got ", launch.buffers.size());
  if (static_cast<int64_t>(launch.scalars.size()) !=
      signature.num_slots - signature.first_scalar_slot) [[unlikely]]
    return InvalidArgument(launch.op, ": the program has ",
                           signature.num_slots - signature.first_scalar_slot, " scalars, got ",
                           launch.scalars.size());
  static const bool blocking = ReadSwitch(Variable::kLaunchBlocking);
  if (blocking) [[unlikely]]
    return found->queue().SubmitAndWait(stream, std::move(launch));
  const bool tiny = executable->IsTiny(launch);
  return found->queue().Submit(stream, std::move(launch), tiny);
}

}  // namespace neuron::runtime
