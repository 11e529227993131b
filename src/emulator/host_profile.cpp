#include "emulator/host_profile.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "base/environment.h"
#include "base/status.h"

namespace neuron::emulator {
namespace {

struct Profiles {
  std::mutex mutex;
  std::vector<std::unique_ptr<HostProfile>> all;
};
Profiles& TheProfiles() {
  static auto* const profiles = new Profiles;  // read while the process ends
  return *profiles;
}

void WriteAll() {
  const std::filesystem::path directory = *Read(Variable::kHostProfile);
  std::error_code ignored;  // then nothing can be written
  std::filesystem::create_directories(directory, ignored);
  std::ofstream out(directory / StrCat("host_profile.", getpid(), ".tsv"));
  Profiles& profiles = TheProfiles();
  const std::lock_guard lock(profiles.mutex);
  for (const auto& profile : profiles.all) out << profile->ToText();
}

}  // namespace

HostProfile* HostProfile::For(const isa::Program& program) {
  static const bool wanted = [] {
    if (!Read(Variable::kHostProfile)) return false;
    std::atexit(WriteAll);
    return true;
  }();
  if (!wanted) return nullptr;
  Profiles& profiles = TheProfiles();
  const std::lock_guard lock(profiles.mutex);
  return profiles.all.emplace_back(std::make_unique<HostProfile>(program)).get();
}

HostProfile::HostProfile(const isa::Program& program) : name_(program.name) {
  for (const isa::Instruction& instruction : program.instructions) {
    sources_.push_back(program.sources[instruction.source]);
    mnemonics_.emplace_back(isa::DefOf(instruction.opcode).mnemonic);
  }
  entries_.resize(sources_.size());
}

std::string HostProfile::ToText() const {
  std::map<std::string, Entry> lines;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.count == 0) continue;
    std::string what = mnemonics_[i];
    std::string source = sources_[i];
    for (size_t j = i + 1; j < entry.last; ++j) {
      what.append("+").append(mnemonics_[j]);
      if (source.empty()) source = sources_[j];
    }
    Entry& line = lines[source + "\t" + what];
    line.nanoseconds += entry.nanoseconds;
    line.count += entry.count;
  }
  std::string out;
  for (const auto& [what, line] : lines)
    out += std::to_string(line.nanoseconds) + "\t" + std::to_string(line.count) + "\t" + name_ +
           "\t" + what + "\n";
  return out;
}

}  // namespace neuron::emulator
