// nrt_emulator_*: what this library offers beyond NRT.
#include <string>

#include "emulator/abi/objects.h"
#include "emulator/parallel.h"
#include "emulator/transfer_time.h"
#include "nrt/nrt_emulator_abi.h"

namespace abi = neuron::emulator::abi;
using neuron::emulator::Core;
using neuron::emulator::Machine;

namespace {

Core* CoreOf(int32_t vnc, std::shared_ptr<Machine>* machine) {
  *machine = abi::CurrentMachine();
  if (*machine == nullptr || vnc < 0 || vnc >= (*machine)->num_cores()) return nullptr;
  const auto core = (*machine)->known(vnc);
  return core.ok() ? *core : nullptr;
}

}  // namespace

extern "C" {

uint64_t nrt_emulator_capabilities(void) {
  const std::shared_ptr<Machine> machine = abi::CurrentMachine();
  const auto config = neuron::emulator::ReadMachineConfig();
  const bool guard = machine != nullptr ? machine->config().guard : config.ok() && config->guard;
  const uint64_t addressable = guard ? 0 : uint64_t{NRT_EMULATOR_HOST_ADDRESSABLE_HBM};
  return addressable | uint64_t{NRT_EMULATOR_DEVICE_TIME};
}

uint64_t nrt_emulator_device_time_ps(int32_t vnc) {
  std::shared_ptr<Machine> machine;
  const Core* core = CoreOf(vnc, &machine);
  return core == nullptr ? 0 : static_cast<uint64_t>(core->device_time_ps.load());
}

uint64_t nrt_emulator_last_duration_ps(const nrt_model_t* model) {
  if (model == nullptr || model->magic != abi::kModelMagic) return 0;
  return static_cast<uint64_t>(model->programs->last_duration_ps());
}

uint64_t nrt_emulator_copy_duration_ps(uint64_t bytes, bool host) {
  const neuron::isa::TargetRow* const row = abi::CurrentTarget();
  if (row == nullptr) return 0;
  return static_cast<uint64_t>(host ? neuron::emulator::HostTransferPs(*row, bytes)
                                    : neuron::emulator::DeviceCopyPs(*row, bytes));
}

void nrt_emulator_set_num_threads(int32_t threads) { neuron::emulator::SetHostThreads(threads); }

const char* nrt_emulator_trace(nrt_model_t* model) {
  thread_local std::string json;
  if (model == nullptr || model->magic != abi::kModelMagic) return "[]";
  const std::lock_guard lock(model->core->mutex);
  constexpr size_t kMaxEvents = 100000;
  json = model->programs->TraceJson(kMaxEvents);
  return json.c_str();
}

const char* nrt_emulator_last_error(void) { return abi::LastError(); }

const char* nrt_emulator_counters(int32_t vnc) {
  thread_local std::string json;
  std::shared_ptr<Machine> machine;
  Core* core = CoreOf(vnc, &machine);
  if (core == nullptr) return "{}";
  const std::lock_guard lock(core->mutex);
  json = core->counters.ToJson();
  return json.c_str();
}

const char* nrt_emulator_core_holder(int32_t core) {
  thread_local std::string holder;
  const auto config = neuron::emulator::ReadMachineConfig();
  holder = config.ok() && !config->name.empty()
               ? neuron::emulator::CoreLease::HolderOf(config->name, core)
               : "";
  return holder.c_str();
}

void nrt_emulator_reset_counters(int32_t vnc) {
  std::shared_ptr<Machine> machine;
  Core* core = CoreOf(vnc, &machine);
  if (core == nullptr) return;
  const std::lock_guard lock(core->mutex);
  core->counters = {};
}

}  // extern "C"
