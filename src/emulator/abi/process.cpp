// nrt_init, nrt_close, and what may be asked before: versions, instance, cores.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "emulator/abi/async.h"
#include "emulator/abi/call.h"
#include "emulator/abi/fault.h"
#include "nrt/status_table.h"

namespace neuron::emulator::abi {
namespace {

void CopyText(std::string_view text, char* to, size_t room) {
  std::memset(to, 0, room);
  std::memcpy(to, text.data(), std::min(text.size(), room - 1));
}

Outcome CoreCount(bool visible, uint32_t* count) {
  if (count == nullptr) return InvalidArgument("count is null");
  NEURON_ASSIGN_OR_RETURN(const MachineConfig config, ReadMachineConfig());
  *count = static_cast<uint32_t>(visible ? config.visible_cores.size() : config.total_cores);
  return {};
}

}  // namespace
}  // namespace neuron::emulator::abi

using neuron::InvalidArgument;
using neuron::OkStatus;
namespace abi = neuron::emulator::abi;
using neuron::emulator::Core;
using neuron::emulator::Machine;
using neuron::emulator::MachineConfig;

extern "C" {

NRT_STATUS nrt_init(nrt_framework_type_t, const char*, const char*) {
  return abi::Call("nrt_init", []() -> abi::Outcome {
    if (abi::CurrentMachine() != nullptr) return {};
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckFault());
    NEURON_ASSIGN_OR_RETURN(MachineConfig config, neuron::emulator::ReadMachineConfig());
    NEURON_ASSIGN_OR_RETURN(std::shared_ptr<Machine> machine, Machine::Create(std::move(config)));
    abi::SetMachine(std::move(machine));
    abi::WarnOfImplicitAsync();
    return {};
  });
}

void nrt_close(void) {
  if (abi::CurrentMachine() == nullptr) return;
  abi::CloseAsync();
  abi::SetMachine(nullptr);
}

NRT_STATUS nrt_get_version(nrt_version_t* version, size_t size) {
  return abi::Call("nrt_get_version", [&]() -> abi::Outcome {
    if (version == nullptr) return InvalidArgument("version is null");
    nrt_version_t full{2, 34, 0, 0, {}, {}};
    abi::CopyText("emulator", full.rt_detail, sizeof full.rt_detail);
    abi::CopyText("torchneuron", full.git_hash, sizeof full.git_hash);
    std::memcpy(version, &full, std::min(size, sizeof full));
    return {};
  });
}

NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t size) {
  return abi::Call("nrt_get_instance_info", [&]() -> abi::Outcome {
    if (info == nullptr) return InvalidArgument("info is null");
    NEURON_ASSIGN_OR_RETURN(const MachineConfig config, neuron::emulator::ReadMachineConfig());
    nrt_instance_info_t full{};
    full.family = config.target == neuron::isa::Target::kTrn3 ? NRT_INSTANCE_FAMILY_TRN3
                                                              : NRT_INSTANCE_FAMILY_TRN2;
    full.size = NRT_INSTANCE_SIZE_3XL;  // one chip
    abi::CopyText(neuron::isa::RowOf(config.target).name, full.arch_name, sizeof full.arch_name);
    abi::CopyText("emu", full.device_revision, sizeof full.device_revision);
    std::memcpy(info, &full, std::min(size, sizeof full));
    return {};
  });
}

NRT_STATUS nrt_get_total_nc_count(uint32_t* count) {
  return abi::Call("nrt_get_total_nc_count", [&] { return abi::CoreCount(false, count); });
}
NRT_STATUS nrt_get_visible_nc_count(uint32_t* count) {
  return abi::Call("nrt_get_visible_nc_count", [&] { return abi::CoreCount(true, count); });
}
NRT_STATUS nrt_get_total_vnc_count(uint32_t* count) {
  return abi::Call("nrt_get_total_vnc_count", [&] { return abi::CoreCount(false, count); });
}
NRT_STATUS nrt_get_visible_vnc_count(uint32_t* count) {
  return abi::Call("nrt_get_visible_vnc_count", [&] { return abi::CoreCount(true, count); });
}

NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats, size_t size_in,
                                    size_t* size_out) {
  return abi::Call("nrt_get_vnc_memory_stats", [&]() -> abi::Outcome {
    if (stats == nullptr) return InvalidArgument("stats is null");
    std::shared_ptr<Machine> machine;
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireMachine(&machine));
    NEURON_ASSIGN_OR_RETURN(Core* const core, machine->known(static_cast<int>(vnc)));
    const nrt_vnc_memory_stats_t full{static_cast<size_t>(core->hbm().used()),
                                      static_cast<size_t>(core->hbm().capacity())};
    const size_t size = std::min(size_in, sizeof full);
    std::memcpy(stats, &full, size);
    if (size_out != nullptr) *size_out = size;
    return {};
  });
}

const char* nrt_get_status_as_str(NRT_STATUS status) {
  return neuron::nrt::StatusName(status).data();  // rows are literals: terminated
}

}  // extern "C"
