// Environment variables: declared once, as rows; read through them; listed in
// docs/reference/environment.md, which is generated.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace neuron {

enum class Variable : uint8_t {
  kPlatformTarget,   // NEURON_PLATFORM_TARGET_OVERRIDE
  kLogicalNcConfig,  // NEURON_LOGICAL_NC_CONFIG
  kVisibleCores,     // NEURON_RT_VISIBLE_CORES
  kNumCores,         // NEURON_RT_NUM_CORES
  kMachine,          // TORCHNEURON_MACHINE: name of an emulated machine that processes share
  kLaunchBlocking,   // NEURON_LAUNCH_BLOCKING
  kNrtLibrary,       // TORCHNEURON_NRT_LIBRARY: path of the NRT library to use
  kSimd,             // TORCHNEURON_SIMD: portable, avx2, avx512, avx512_bf16
  kCacheDirectory,   // TORCH_NEURONX_NEFF_CACHE_DIR
  kCacheDisabled,    // TORCH_NEURONX_DISABLE_NEFF_CACHE
  kCacheBytes,       // TORCHNEURON_CACHE_BYTES: limit of the cache directory
  kCompiler,         // TORCHNEURON_COMPILER: a command to compile with, not in process
  kDumpDirectory,    // TORCHNEURON_DUMP_DIR: HLO, passes and programs as text
  kRunTimeExtents,   // TORCHNEURON_RUN_TIME_EXTENTS: 0: a program for every length
  kStrict,           // TORCHNEURON_STRICT: a CPU fallback is an error
  kGroups,           // TORCHNEURON_INSTRUCTION_GROUPS: 0 executes instruction by instruction
  kHostProfile,      // TORCHNEURON_HOST_PROFILE: where the emulator's host time goes
  kLaunchDelay,      // TORCHNEURON_LAUNCH_DELAY_US: injected per launch (tests)
  kCopyDelay,        // TORCHNEURON_COPY_DELAY_US: injected per host transfer (tests)
  kFailExecution,    // TORCHNEURON_FAIL_EXECUTION: NRT status of one execution (tests)
  kPerturb,          // TORCHNEURON_PERTURB: mnemonic whose results are made wrong (tests)
  kGuard,            // TORCHNEURON_GUARD: HBM is not addressable by the host
  kCheckGroups,      // TORCHNEURON_CHECK_GROUPS: programs run with groups and without, and compare
  kCheckMemory,      // TORCHNEURON_CHECK_MEMORY: uninitialised reads and races are errors
  kLogLevel,         // TORCH_NEURONX_LOG_LEVEL
  kHbmBytes,         // TORCHNEURON_HBM_BYTES: smaller HBM per logical core (tests)
  kNumVariables
};

struct VariableRow {
  Variable variable;
  std::string_view name;
  std::string_view type;  // "integer", "switch", "path", "directory", "text"
  std::string_view default_value;
  std::string_view meaning;
  // What is legal, beside the type: bounds of an integer; of a text the words, comma separated.
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  std::string_view words = {};
};
std::span<const VariableRow> Variables();
const VariableRow& RowOf(Variable variable);

// The first variable whose value its row does not allow: name, value, what is legal. Rules that
// need another layer's tables (chips, instructions) are that layer's.
Status CheckVariables();

std::optional<std::string> Read(Variable variable);  // nullopt: unset or empty
bool ReadSwitch(Variable variable);                  // "1", "true", "on"; default from the row
// nullopt if unset. A value that is no integer is refused by CheckVariables; where nobody calls
// that it is reported and taken as unset.
std::optional<int64_t> ReadInteger(Variable variable);

}  // namespace neuron
