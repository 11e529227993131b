#include "runtime/process.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/environment.h"
#include "base/unknown_variables.h"
#include "isa/instruction.h"
#include "isa/target.h"
#include "nrt/loader.h"
#include "runtime/compile.h"

namespace neuron::runtime {
namespace {

enum State : int { kUsable = 0, kForked, kExiting };
std::atomic<int> state{kUsable};
std::atomic<bool> initialized{false};

struct Machine {
  std::mutex mutex;
  Status failure;  // of an initialisation that was tried
  std::vector<std::unique_ptr<Device>> devices;
};
Machine& TheMachine() {
  static auto& machine = *new Machine;  // outlives every static destructor
  return machine;
}

void StopAtExit() {
  if (state.load() != kUsable) return;
  for (auto& device : TheMachine().devices) device->queue().Stop();
  state.store(kExiting);
}

// Checked here, with the tables of the layers below, because an NRT status carries no text.
Status CheckEnvironment() {
  NEURON_RETURN_IF_ERROR(CheckVariables());
  if (const auto name = Read(Variable::kPlatformTarget); name && !isa::TargetFromName(*name)) {
    std::string known;
    for (const isa::TargetRow& row : isa::Targets())
      known += StrCat(known.empty() ? "" : ", ", row.name, " (", row.alias, ")");
    return InvalidArgument(RowOf(Variable::kPlatformTarget).name, "=", *name,
                           " names no chip; known are: ", known);
  }
  if (const auto mnemonic = Read(Variable::kPerturb);
      mnemonic && !isa::OpcodeFromMnemonic(*mnemonic))
    return InvalidArgument(RowOf(Variable::kPerturb).name, " is '", *mnemonic,
                           "', which is no instruction; docs/reference/isa.md lists them");
  return OkStatus();
}

StatusOr<int> VisibleCores(const nrt::Library& nrt) {
  uint32_t count = 0;
  const auto call =
      nrt.nrt_get_visible_vnc_count ? nrt.nrt_get_visible_vnc_count : nrt.nrt_get_visible_nc_count;
  NEURON_RETURN_IF_ERROR(nrt.Check(call(&count), "nrt_get_visible_nc_count"));
  return static_cast<int>(count);
}

DeviceProperties PropertiesOf(const nrt::Library& nrt, int index) {
  DeviceProperties properties;
  isa::Target target = isa::Target::kTrn2;
  if (const auto name = Read(Variable::kPlatformTarget))
    target = isa::TargetFromName(*name).value_or(target);
  nrt_instance_info_t info{};
  if (nrt.nrt_get_instance_info && nrt.nrt_get_instance_info(&info, sizeof(info)) == NRT_SUCCESS) {
    if (info.family >= NRT_INSTANCE_FAMILY_TRN3)
      target = isa::Target::kTrn3;
    else if (info.family >= NRT_INSTANCE_FAMILY_TRN2)
      target = isa::Target::kTrn2;
  }
  const isa::TargetRow& row = isa::RowOf(target);
  properties.name = row.name;
  properties.emulated = nrt.emulated();
  properties.device_name = StrCat("AWS Trainium", static_cast<int>(target), " neuron core",
                                  properties.emulated ? " (emulated by torchneuron)" : "");
  properties.logical_nc_config =
      static_cast<int>(ReadInteger(Variable::kLogicalNcConfig).value_or(1));
  properties.host_addressable = nrt.host_addressable_hbm();
  nrt_vnc_memory_stats_t stats{};
  size_t size = 0;
  if (nrt.nrt_get_vnc_memory_stats &&
      nrt.nrt_get_vnc_memory_stats(static_cast<uint32_t>(index), &stats, sizeof(stats), &size) ==
          NRT_SUCCESS) {
    properties.total_memory = static_cast<int64_t>(stats.bytes_limit);
  } else {
    properties.total_memory = row.hbm_bytes / row.physical_cores * properties.logical_nc_config;
  }
  return properties;
}

Status InitializeLocked(Machine& machine) {
  NEURON_RETURN_IF_ERROR(CheckEnvironment());
  if (!nrt::GetLibrary().ok()) return nrt::GetLibrary().status();
  if (CompilerCommand() && !CompilerIdentity().ok()) return CompilerIdentity().status();
  const nrt::Library& nrt = **nrt::GetLibrary();
  if (!nrt.emulated()) ReportUnknownVariables();  // the emulator does so itself
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_init(NRT_FRAMEWORK_TYPE_PYTORCH, "", ""), StrCat(nrt.path, ": nrt_init")));
  NEURON_ASSIGN_OR_RETURN(const int count, VisibleCores(nrt));
  if (count == 0) return NotFound(nrt.path, " reports no visible NeuronCore");
  for (int i = 0; i < count; ++i)
    machine.devices.push_back(std::make_unique<Device>(nrt, i, PropertiesOf(nrt, i)));
  pthread_atfork(nullptr, nullptr, [] { state.store(kForked); });
  // Registered after the library was loaded, hence run before its destructors.
  std::atexit(StopAtExit);
  return OkStatus();
}

}  // namespace

bool ProcessUsable() { return state.load(std::memory_order_relaxed) == kUsable; }

Status CheckProcess() {
  switch (state.load(std::memory_order_relaxed)) {
    case kForked:
      return FailedPrecondition(
          "neuron: this process was forked from one that had already used the device, and cannot "
          "use it. Start workers with the 'spawn' method "
          "(torch.multiprocessing.set_start_method('spawn')), or fork before the first use");
    case kExiting:
      return FailedPrecondition("neuron: the process is ending");
    default:
      return OkStatus();
  }
}

Status Initialize() {
  NEURON_RETURN_IF_ERROR(CheckProcess());
  if (initialized.load(std::memory_order_acquire)) return OkStatus();
  Machine& machine = TheMachine();
  std::lock_guard lock(machine.mutex);
  if (initialized.load(std::memory_order_relaxed)) return OkStatus();
  if (!machine.failure.ok()) return machine.failure;
  machine.failure = InitializeLocked(machine);
  if (machine.failure.ok()) initialized.store(true, std::memory_order_release);
  return machine.failure;
}

bool IsInitialized() { return initialized.load(std::memory_order_acquire) && ProcessUsable(); }

int DeviceCount() {
  if (initialized.load(std::memory_order_acquire))
    return static_cast<int>(TheMachine().devices.size());
  if (!nrt::GetLibrary().ok() || !CheckEnvironment().ok()) return 0;
  const StatusOr<int> count = VisibleCores(**nrt::GetLibrary());
  return count.ok() ? *count : 0;
}

const std::vector<std::unique_ptr<Device>>& Devices() {
  static const std::vector<std::unique_ptr<Device>> none;
  return initialized.load(std::memory_order_acquire) ? TheMachine().devices : none;
}

Device* FindDevice(int device) {
  if (!ProcessUsable() || !initialized.load(std::memory_order_acquire)) return nullptr;
  const auto& devices = TheMachine().devices;
  return device >= 0 && static_cast<size_t>(device) < devices.size()
             ? devices[static_cast<size_t>(device)].get()
             : nullptr;
}

StatusOr<Device*> GetDevice(int device) {
  if (Device* found = FindDevice(device)) [[likely]]
    return found;
  NEURON_RETURN_IF_ERROR(Initialize());
  if (Device* found = FindDevice(device)) return found;
  return InvalidArgument("neuron:", device, " does not exist; this process sees ", DeviceCount(),
                         " device(s), numbered from 0");
}

}  // namespace neuron::runtime
