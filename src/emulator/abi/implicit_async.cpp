// What is left of implicit asynchronous execution, which runtime 2.32 removed: its variable is
// ignored with a warning, nothing is ever queued.
#include <cstdio>
#include <cstdlib>

#include "emulator/abi/async.h"
#include "emulator/abi/call.h"

namespace abi = neuron::emulator::abi;
using neuron::emulator::Machine;

namespace neuron::emulator::abi {

void WarnOfImplicitAsync() {
  constexpr char kVariable[] = "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS";
  const char* value = std::getenv(kVariable);
  if (value == nullptr || std::atoll(value) == 0) return;
  std::fprintf(
      stderr,
      "torchneuron emulator: %s=%s is ignored, as by NRT since 2.32; use the nrta_* calls\n",
      kVariable, value);
}

}  // namespace neuron::emulator::abi

extern "C" {

NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK, void*) {
  return abi::Call("nrt_register_async_exec_callback", []() -> abi::Outcome {
    std::shared_ptr<Machine> machine;
    return abi::RequireMachine(&machine);
  });
}

NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc) {
  return abi::Call("nrt_async_drain_queued_execs", [&]() -> abi::Outcome {
    std::shared_ptr<Machine> machine;
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireMachine(&machine));
    return machine->known(vnc).status();
  });
}

}  // extern "C"
