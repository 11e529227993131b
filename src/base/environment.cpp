#include "base/environment.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>

namespace neuron {
namespace {

constexpr VariableRow kRows[] = {
    {Variable::kPlatformTarget, "NEURON_PLATFORM_TARGET_OVERRIDE", "text", "trn2",
     "Chip to emulate and compile for: trn2 (gen3) or trn3 (gen4)."},
    {Variable::kLogicalNcConfig, "NEURON_LOGICAL_NC_CONFIG", "integer", "1",
     "Physical NeuronCores in one logical core: 1 or 2.", 1, 2},
    {Variable::kVisibleCores, "NEURON_RT_VISIBLE_CORES", "text", "",
     "Logical cores this process may use: a list or range such as 0-3. Wins over NUM_CORES."},
    {Variable::kNumCores, "NEURON_RT_NUM_CORES", "integer", "",
     "How many logical cores this process takes.", 0},
    {Variable::kMachine, "TORCHNEURON_MACHINE", "text", "",
     "Processes that give the same name share the cores of one emulated machine: a core belongs to "
     "the process that uses it first. Without a name the machine is private to the process."},
    {Variable::kLaunchBlocking, "NEURON_LAUNCH_BLOCKING", "switch", "0",
     "Every launch waits for its end, so that an error appears at the op that caused it."},
    {Variable::kNrtLibrary, "TORCHNEURON_NRT_LIBRARY", "path", "",
     "NRT library to load in place of libnrt.so.1 or the emulator."},
    {Variable::kSimd, "TORCHNEURON_SIMD", "text", "",
     "Host instruction set of the emulator: portable, avx2, avx512 or avx512_bf16.", 0, 0,
     "portable, avx2, avx512, avx512_bf16"},
    {Variable::kCacheDirectory, "TORCH_NEURONX_NEFF_CACHE_DIR", "directory", "~/.cache/torchneuron",
     "Directory of compiled programs."},
    {Variable::kCacheDisabled, "TORCH_NEURONX_DISABLE_NEFF_CACHE", "switch", "0",
     "Compiled programs are kept in memory only."},
    {Variable::kCacheBytes, "TORCHNEURON_CACHE_BYTES", "integer", "4294967296",
     "Size of the directory of compiled programs; those used longest ago are removed.", 0},
    {Variable::kCompiler, "TORCHNEURON_COMPILER", "path", "",
     "Compiler command to run per program (neuron-compile, neuronx-cc) in place of compiling in "
     "the process."},
    {Variable::kDumpDirectory, "TORCHNEURON_DUMP_DIR", "directory", "",
     "Where HLO, each compiler pass and each program are written as text."},
    {Variable::kRunTimeExtents, "TORCHNEURON_RUN_TIME_EXTENTS", "switch", "1",
     "0: an eager op compiles a program for every length, in place of one for all of them."},
    {Variable::kStrict, "TORCHNEURON_STRICT", "switch", "0",
     "An op without a lowering is an error, not a CPU fallback."},
    {Variable::kGroups, "TORCHNEURON_INSTRUCTION_GROUPS", "switch", "1",
     "0: the emulator executes instruction by instruction. Same bits, same modelled time."},
    {Variable::kHostProfile, "TORCHNEURON_HOST_PROFILE", "directory", "",
     "Where the emulator writes its host time per HLO instruction when the process ends."},
    {Variable::kLaunchDelay, "TORCHNEURON_LAUNCH_DELAY_US", "integer", "0",
     "Delay added to each execution in the emulator, for tests of asynchrony.", 0},
    {Variable::kCopyDelay, "TORCHNEURON_COPY_DELAY_US", "integer", "0",
     "Delay added to each transfer between host and device in the emulator, for tests of "
     "asynchrony.",
     0},
    {Variable::kFailExecution, "TORCHNEURON_FAIL_EXECUTION", "text", "",
     "STATUS or STATUS@N: the process's Nth execution in the emulator (the first, if not said) "
     "ends "
     "with this NRT status, for tests of what hardware may answer."},
    {Variable::kPerturb, "TORCHNEURON_PERTURB", "text", "",
     "Instruction whose results the emulator makes wrong, for tests of honesty."},
    {Variable::kGuard, "TORCHNEURON_GUARD", "switch", "0",
     "HBM is unmapped for the host: a stray host access faults."},
    {Variable::kCheckGroups, "TORCHNEURON_CHECK_GROUPS", "switch", "0",
     "Debugging: the emulator executes every program twice, instruction by instruction and with "
     "instruction groups, and ends a run where bits, counters or modelled time differ. Slow."},
    {Variable::kCheckMemory, "TORCHNEURON_CHECK_MEMORY", "switch", "0",
     "Debugging: the emulator ends a run that reads what nothing wrote, or whose engines or cores "
     "reach the same bytes in no order. Slow."},
    {Variable::kLogLevel, "TORCH_NEURONX_LOG_LEVEL", "integer", "0",
     "0 errors, 1 warnings, 2 information, 3 debug.", 0, 3},
    {Variable::kHbmBytes, "TORCHNEURON_HBM_BYTES", "integer", "",
     "HBM bytes of one logical core, if less than the chip has.", 1},
};
static_assert(std::size(kRows) == static_cast<size_t>(Variable::kNumVariables));

std::optional<int64_t> ToInteger(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsOneOf(const std::string& value, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (value == word) return true;
  return false;
}

bool IsListed(const std::string& value, std::string_view words) {
  while (!words.empty()) {
    const size_t comma = std::min(words.find(", "), words.size());
    if (value == words.substr(0, comma)) return true;
    words.remove_prefix(std::min(comma + 2, words.size()));
  }
  return false;
}

// A directory, or a name at which one can be made.
bool IsDirectory(const std::string& value) {
  std::error_code error;
  for (std::filesystem::path path = value; !path.empty(); path = path.parent_path()) {
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status)) return std::filesystem::is_directory(status);
    if (path == path.parent_path()) return false;
  }
  return true;  // relative, below the working directory
}

// Empty: the value is legal; else what would be.
std::string Expected(const VariableRow& row, const std::string& value) {
  if (row.type == "switch") {
    if (IsOneOf(value, {"0", "1", "false", "true", "off", "on"})) return {};
    return "0 or 1";
  }
  if (row.type == "integer") {
    const std::optional<int64_t> number = ToInteger(value);
    if (number && *number >= row.low && *number <= row.high) return {};
    constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
    if (row.high != kNone) return StrCat("an integer from ", row.low, " to ", row.high);
    return StrCat("an integer from ", row.low, " on");
  }
  if (row.type == "directory")
    return IsDirectory(value) ? "" : "a directory, or a name at which one can be made";
  if (!row.words.empty() && !IsListed(value, row.words)) return StrCat("one of ", row.words);
  return {};
}

}  // namespace

std::span<const VariableRow> Variables() { return kRows; }
const VariableRow& RowOf(Variable variable) { return kRows[static_cast<size_t>(variable)]; }

Status CheckVariables() {
  for (const VariableRow& row : kRows) {
    const std::optional<std::string> value = Read(row.variable);
    if (!value) continue;
    if (const std::string expected = Expected(row, *value); !expected.empty())
      return InvalidArgument(row.name, " is '", *value, "'; expected ", expected);
  }
  return OkStatus();
}

std::optional<std::string> Read(Variable variable) {
  const char* value = std::getenv(std::string(RowOf(variable).name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

bool ReadSwitch(Variable variable) {
  const std::string value = Read(variable).value_or(std::string(RowOf(variable).default_value));
  return value == "1" || value == "true" || value == "on";
}

std::optional<int64_t> ReadInteger(Variable variable) {
  const std::optional<std::string> text = Read(variable);
  if (!text) return std::nullopt;
  if (const std::optional<int64_t> value = ToInteger(*text)) return value;
  std::fprintf(stderr, "torchneuron: %s should be an integer, got '%s'; using the default\n",
               std::string(RowOf(variable).name).c_str(), text->c_str());
  return std::nullopt;
}

}  // namespace neuron
