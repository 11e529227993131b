// neuron-info: which NRT library serves, whether the device is real, and who holds which core.
// Takes no core itself.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/json.h"
#include "commands/arguments.h"
#include "isa/target.h"
#include "nrt/loader.h"

namespace neuron::commands {
namespace {

constexpr OptionRow kOptions[] = {
    {"json-output", "j", false, "", "The same as JSON."},
    {"help", "h", false, "", "This text."},
};

struct CoreInfo {
  uint32_t core = 0;
  std::string holder;
};

struct Info {
  std::string library, version, chosen;
  bool emulated = false;
  std::string chip, machine;
  uint32_t total = 0, visible = 0;
  int64_t physical_per_core = 1, hbm_bytes_per_core = 0;  // 0: not known
  std::vector<CoreInfo> cores;
};

StatusOr<Info> Ask() {
  const StatusOr<const nrt::Library*>& library = nrt::GetLibrary();
  NEURON_RETURN_IF_ERROR(library.status());
  const nrt::Library& nrt = **library;
  Info info;
  info.library = nrt.path;
  info.version = nrt.VersionText();
  info.chosen = nrt.chosen;
  info.emulated = nrt.emulated();
  if (nrt.nrt_get_instance_info != nullptr) {
    nrt_instance_info_t instance{};
    NEURON_RETURN_IF_ERROR(
        nrt.Check(nrt.nrt_get_instance_info(&instance, sizeof instance), "nrt_get_instance_info"));
    info.chip =
        std::string(instance.arch_name, strnlen(instance.arch_name, sizeof instance.arch_name));
  }
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_get_total_nc_count(&info.total), "nrt_get_total_nc_count"));
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_get_visible_nc_count(&info.visible), "nrt_get_visible_nc_count"));
  info.physical_per_core = ReadInteger(Variable::kLogicalNcConfig).value_or(1);
  if (const auto target = isa::TargetFromName(info.chip); target && info.total > 0)
    info.hbm_bytes_per_core = isa::RowOf(*target).hbm_bytes / info.total;
  info.machine = Read(Variable::kMachine).value_or("");
  for (uint32_t core = 0; core < info.total; ++core)
    info.cores.push_back({core, nrt.nrt_emulator_core_holder != nullptr
                                    ? nrt.nrt_emulator_core_holder(static_cast<int32_t>(core))
                                    : ""});
  return info;
}

std::string JsonOf(const Info& info) {
  std::string json = StrCat(
      "{\"library\": ", JsonQuoted(info.library), ", \"version\": ", JsonQuoted(info.version),
      ", \"chosen\": ", JsonQuoted(info.chosen),
      ", \"emulated\": ", info.emulated ? "true" : "false", ", \"chip\": ", JsonQuoted(info.chip),
      ", \"machine\": ", JsonQuoted(info.machine), ", \"visible_cores\": ", info.visible,
      ", \"physical_cores_per_core\": ", info.physical_per_core,
      ", \"hbm_bytes_per_core\": ", info.hbm_bytes_per_core, ", \"cores\": [");
  for (const CoreInfo& core : info.cores)
    json += StrCat(core.core == 0 ? "" : ", ", "{\"core\": ", core.core,
                   ", \"held_by\": ", JsonQuoted(core.holder), "}");
  return json + "]}\n";
}

std::string TextOf(const Info& info) {
  std::string text = StrCat("NRT ", info.version, "\n  from ", info.library, " (", info.chosen,
                            ")\n", info.emulated ? "The device is emulated" : "Real hardware");
  if (!info.chip.empty()) text += ": " + info.chip;
  if (info.emulated)
    text += info.machine.empty() ? ", a machine private to each process"
                                 : StrCat(", machine '", info.machine, "'");
  text +=
      StrCat("\n", info.total, " logical core(s) of ", info.physical_per_core, " physical core(s)");
  if (info.hbm_bytes_per_core > 0)
    text += StrCat(" with ", info.hbm_bytes_per_core >> 30, " GiB of HBM");
  text += StrCat(", ", info.visible, " visible to this process\n");
  if (info.machine.empty()) return text;
  for (const CoreInfo& core : info.cores)
    text += StrCat("  core ", core.core, ": ", core.holder.empty() ? "free" : core.holder, "\n");
  return text;
}

int Main(const std::vector<std::string>& words) {
  const StatusOr<Arguments> arguments = Arguments::Parse(kOptions, words);
  if (!arguments.ok() || !arguments->files().empty()) {
    const std::string reason =
        arguments.ok() ? "no file is read here" : std::string(arguments.status().message());
    std::fprintf(stderr, "neuron-info: %s\n", reason.c_str());
    return 2;
  }
  if (arguments->given("help")) {
    std::printf("neuron-info\n\n%s", HelpText(kOptions).c_str());
    return 0;
  }
  const StatusOr<Info> info = Ask();
  if (!info.ok()) {
    std::fprintf(stderr, "neuron-info: %s\n", info.status().ToString().c_str());
    return 1;
  }
  const std::string text = arguments->given("json-output") ? JsonOf(*info) : TextOf(*info);
  std::printf("%s", text.c_str());
  return 0;
}

}  // namespace
}  // namespace neuron::commands

int main(int count, char** words) {
  return neuron::commands::Main(std::vector<std::string>(words + 1, words + count));
}
