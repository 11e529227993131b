#include "base/environment.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace neuron {
namespace {

constexpr VariableRow kRows[] = {
    {Variable::kPlatformTarget, "NEURON_PLATFORM_TARGET_OVERRIDE", "text", "trn2",
     "Chip to emulate and compile for: trn2 (gen3) or trn3 (gen4)."},
    {Variable::kLogicalNcConfig, "NEURON_LOGICAL_NC_CONFIG", "integer", "1",
     "Physical NeuronCores in one logical core: 1 or 2."},
    {Variable::kVisibleCores, "NEURON_RT_VISIBLE_CORES", "text", "",
     "Logical cores this process may use: a list or range such as 0-3. Wins over NUM_CORES."},
    {Variable::kNumCores, "NEURON_RT_NUM_CORES", "integer", "",
     "How many logical cores this process takes."},
    {Variable::kLaunchBlocking, "NEURON_LAUNCH_BLOCKING", "switch", "0",
     "Every launch waits for its end, so that an error appears at the op that caused it."},
    {Variable::kNrtLibrary, "TORCHNEURON_NRT_LIBRARY", "path", "",
     "NRT library to load in place of libnrt.so.1 or the emulator."},
    {Variable::kSimd, "TORCHNEURON_SIMD", "text", "",
     "Host instruction set of the emulator: portable, avx2, avx512 or avx512_bf16."},
    {Variable::kCacheDirectory, "TORCH_NEURONX_NEFF_CACHE_DIR", "path", "~/.cache/torchneuron",
     "Directory of compiled programs."},
    {Variable::kCacheDisabled, "TORCH_NEURONX_DISABLE_NEFF_CACHE", "switch", "0",
     "Compiled programs are kept in memory only."},
    {Variable::kCacheBytes, "TORCHNEURON_CACHE_BYTES", "integer", "4294967296",
     "Size of the directory of compiled programs; those used longest ago are removed."},
    {Variable::kCompiler, "TORCHNEURON_COMPILER", "path", "",
     "Compiler command to run per program (neuron-compile, neuronx-cc) in place of compiling in "
     "the process."},
    {Variable::kDumpDirectory, "TORCHNEURON_DUMP_DIR", "path", "",
     "Where HLO, each compiler pass and each program are written as text."},
    {Variable::kStrict, "TORCHNEURON_STRICT", "switch", "0",
     "An op without a lowering is an error, not a CPU fallback."},
    {Variable::kGroups, "TORCHNEURON_INSTRUCTION_GROUPS", "switch", "1",
     "0: the emulator executes instruction by instruction. Same bits, same modelled time."},
    {Variable::kLaunchDelay, "TORCHNEURON_LAUNCH_DELAY_US", "integer", "0",
     "Delay added to each execution in the emulator, for tests of asynchrony."},
    {Variable::kPerturb, "TORCHNEURON_PERTURB", "text", "",
     "Instruction whose results the emulator makes wrong, for tests of honesty."},
    {Variable::kGuard, "TORCHNEURON_GUARD", "switch", "0",
     "HBM is unmapped for the host: a stray host access faults."},
    {Variable::kLogLevel, "TORCH_NEURONX_LOG_LEVEL", "integer", "0",
     "0 errors, 1 warnings, 2 information, 3 debug."},
    {Variable::kHbmBytes, "TORCHNEURON_HBM_BYTES", "integer", "",
     "HBM bytes of one logical core, if less than the chip has."},
};
static_assert(std::size(kRows) == static_cast<size_t>(Variable::kNumVariables));

}  // namespace

std::span<const VariableRow> Variables() { return kRows; }
const VariableRow& RowOf(Variable variable) { return kRows[static_cast<size_t>(variable)]; }

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
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size()) return value;
  std::fprintf(stderr, "torchneuron: %s should be an integer, got '%s'; using the default\n",
               std::string(RowOf(variable).name).c_str(), text->c_str());
  return std::nullopt;
}

}  // namespace neuron
