#include "emulator/machine.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/unknown_variables.h"

namespace neuron::emulator {
namespace {

std::string KnownTargets() {
  std::string names;
  for (const isa::TargetRow& row : isa::Targets())
    names += StrCat(names.empty() ? "" : ", ", row.name, " (", row.alias, ")");
  return names;
}

// "3", "0-3", "1,2,3": contiguous and increasing, as the runtime documents.
std::optional<std::vector<int>> ParseCores(std::string_view text) {
  std::vector<int> cores;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    int first = 0;
    int last = 0;
    const char* const begin = part.data();
    const char* const end = begin + part.size();
    const auto [next, error] = std::from_chars(begin, end, first);
    if (error != std::errc()) return std::nullopt;
    last = first;
    if (next != end) {
      if (*next != '-') return std::nullopt;
      const auto [rest, bad] = std::from_chars(next + 1, end, last);
      if (bad != std::errc() || rest != end || last < first) return std::nullopt;
    }
    for (int core = first; core <= last; ++core) {
      if (core < 0 || (!cores.empty() && core != cores.back() + 1)) return std::nullopt;
      cores.push_back(core);
    }
  }
  if (cores.empty()) return std::nullopt;
  return cores;
}

}  // namespace

StatusOr<MachineConfig> ReadMachineConfig() {
  NEURON_RETURN_IF_ERROR(CheckVariables());
  ReportUnknownVariables();
  MachineConfig config;
  if (const auto name = Read(Variable::kPlatformTarget)) {
    const auto target = isa::TargetFromName(*name);
    if (!target)
      return InvalidArgument("NEURON_PLATFORM_TARGET_OVERRIDE is '", *name,
                             "'; known chips: ", KnownTargets());
    config.target = *target;
  }
  const int64_t lnc = ReadInteger(Variable::kLogicalNcConfig).value_or(1);
  config.logical_nc_config = static_cast<int>(lnc);
  const isa::TargetRow& row = isa::RowOf(config.target);
  config.total_cores = static_cast<int>(row.physical_cores / lnc);
  config.hbm_bytes = row.hbm_bytes / config.total_cores;
  if (const auto bytes = ReadInteger(Variable::kHbmBytes); bytes && *bytes > 0)
    config.hbm_bytes = std::min(config.hbm_bytes, *bytes);
  config.guard = ReadSwitch(Variable::kGuard);
  config.name = Read(Variable::kMachine).value_or("");
  if (!config.name.empty() && !CoreLease::IsName(config.name))
    return InvalidArgument("TORCHNEURON_MACHINE is '", config.name,
                           "'; a name has up to 64 letters, digits, '-', '_' and '.'");

  if (const auto list = Read(Variable::kVisibleCores)) {
    const auto cores = ParseCores(*list);
    if (!cores)
      return InvalidArgument("NEURON_RT_VISIBLE_CORES is '", *list,
                             "'; expected a contiguous increasing list such as 0-3 or 2,3");
    if (cores->back() >= config.total_cores)
      return InvalidArgument("NEURON_RT_VISIBLE_CORES names core ", cores->back(), "; ", row.name,
                             " has logical cores 0-", config.total_cores - 1);
    config.visible_cores = *cores;
  } else {
    const int64_t count = ReadInteger(Variable::kNumCores).value_or(0);
    if (count > config.total_cores)
      return InvalidArgument("NEURON_RT_NUM_CORES is ", count, "; ", row.name, " has ",
                             config.total_cores, " logical cores");
    config.any_cores = count > 0 && !config.name.empty();
    for (int core = 0; core < (count == 0 ? config.total_cores : count); ++core)
      config.visible_cores.push_back(core);
  }
  return config;
}

Core::Core(const MachineConfig& config, int vnc)
    : vnc_(vnc),
      target_(config.target),
      machine_(config.name),
      number_(config.visible_cores[static_cast<size_t>(vnc)]),
      hbm_(std::make_shared<Hbm>(config.hbm_bytes, config.guard)) {}

StatusOr<Core*> Core::Second() {
  {
    const std::lock_guard lock(claim_);
    if (second_ == nullptr) second_.reset(new Core(*this, hbm_));
  }
  NEURON_RETURN_IF_ERROR(second_->Claim());
  return second_.get();
}

const Core::OwnMemories* Core::own_memories(int worker) {
  const std::lock_guard lock(claim_);
  std::unique_ptr<OwnMemories>& own = own_memories_[worker];
  if (own == nullptr) {
    const isa::TargetRow& row = isa::RowOf(target_);
    auto sbuf = OnChipMemory::Create(row.sbuf_bytes_per_partition);
    auto psum = OnChipMemory::Create(row.psum_bytes_per_partition);
    auto packed = Mapping::Reserve(row.sbuf_bytes_per_partition * isa::kPartitions, true);
    if (!sbuf.ok() || !psum.ok() || !packed.ok()) return nullptr;
    own = std::make_unique<OwnMemories>(
        OwnMemories{*std::move(sbuf), *std::move(psum), *std::move(packed)});
  }
  return own.get();
}

Status Core::Claim() {
  const std::lock_guard lock(claim_);
  if (claimed_) return OkStatus();
  if (!machine_.empty() && lease_ == nullptr) {
    NEURON_ASSIGN_OR_RETURN(lease_, CoreLease::Take(machine_, number_));
  }
  const isa::TargetRow& row = isa::RowOf(target_);
  NEURON_ASSIGN_OR_RETURN(sbuf_, OnChipMemory::Create(row.sbuf_bytes_per_partition));
  NEURON_ASSIGN_OR_RETURN(psum_, OnChipMemory::Create(row.psum_bytes_per_partition));
  NEURON_ASSIGN_OR_RETURN(packed_,
                          Mapping::Reserve(row.sbuf_bytes_per_partition * isa::kPartitions, true));
  claimed_ = true;
  return OkStatus();
}

StatusOr<std::shared_ptr<Machine>> Machine::Create(MachineConfig config) {
  std::vector<std::unique_ptr<CoreLease>> leases;
  if (config.any_cores) {
    const size_t wanted = config.visible_cores.size();
    std::string held;
    config.visible_cores.clear();
    for (int core = 0; core < config.total_cores && leases.size() < wanted; ++core) {
      auto lease = CoreLease::Take(config.name, core);
      if (lease.ok()) {
        leases.push_back(*std::move(lease));
        config.visible_cores.push_back(core);
      } else if (lease.status().code() == StatusCode::kUnavailable) {
        held += StrCat("; core ", core, " by ", CoreLease::HolderOf(config.name, core));
      } else {
        return lease.status();
      }
    }
    if (leases.size() < wanted)
      return Unavailable("NEURON_RT_NUM_CORES is ", wanted, ", and ", leases.size(), " of the ",
                         config.total_cores, " logical cores of machine '", config.name,
                         "' are free", held);
  }
  std::shared_ptr<Machine> machine(new Machine(std::move(config)));
  for (size_t vnc = 0; vnc < leases.size(); ++vnc)
    machine->cores_[vnc]->Adopt(std::move(leases[vnc]));
  return machine;
}

Machine::Machine(MachineConfig config) : config_(std::move(config)) {
  for (size_t vnc = 0; vnc < config_.visible_cores.size(); ++vnc)
    cores_.push_back(std::make_unique<Core>(config_, static_cast<int>(vnc)));
}

StatusOr<Core*> Machine::known(int vnc) {
  if (vnc < 0 || vnc >= num_cores())
    return InvalidArgument("core ", vnc, " asked for, ", num_cores(), " visible");
  return cores_[vnc].get();
}

StatusOr<Core*> Machine::core(int vnc) {
  NEURON_ASSIGN_OR_RETURN(Core* const core, known(vnc));
  NEURON_RETURN_IF_ERROR(core->Claim());
  return core;
}

}  // namespace neuron::emulator
