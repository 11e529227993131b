// The executable part of runtime.h.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/environment.h"
#include "runtime/compile.h"
#include "runtime/executable_cache.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace neuron::runtime {
namespace {

// "~" at the start is the home directory.
std::filesystem::path CacheDirectory() {
  std::string path = Read(Variable::kCacheDirectory)
                         .value_or(std::string(RowOf(Variable::kCacheDirectory).default_value));
  if (path.starts_with("~/")) {
    const char* home = std::getenv("HOME");
    path = StrCat(home && *home ? home : "/tmp", path.substr(1));
  }
  return path;
}

ExecutableCache& Cache() {
  static auto& cache = *new ExecutableCache([]() -> std::unique_ptr<DiskCache> {
    if (ReadSwitch(Variable::kCacheDisabled)) return nullptr;
    const int64_t limit = ReadInteger(Variable::kCacheBytes).value_or(int64_t{4} << 30);
    return std::make_unique<DiskCache>(CacheDirectory(), limit);
  }());
  return cache;
}

}  // namespace

StatusOr<std::shared_ptr<Executable>> GetExecutable(int device, const hlo::Module& module,
                                                    const compiler::Options& options,
                                                    const std::string& op) {
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  compiler::Options effective = options;
  if (effective.dump_directory.empty())
    effective.dump_directory = Read(Variable::kDumpDirectory).value_or("");
  StatusOr<std::string> key = CacheKey(module, effective);
  if (!key.ok()) return key.status().WithPrefix(StrCat(op, ": "));
  auto executable = Cache().Get(*found, *key,
                                {.compile = [&] { return CompileToContainer(module, effective); },
                                 .signature = SignatureOf,
                                 .fresh = !effective.dump_directory.empty()});
  if (!executable.ok()) {
    const Status& status = executable.status();
    // A library that is none of ours wants neuronx-cc's programs.
    if (IsUnimplemented(status) && !found->nrt().emulated() && !CompilerCommand())
      return Unimplemented(
          op, ": ", status.message(), "; ", found->nrt().path,
          " loads programs of neuronx-cc, which is not on PATH: install it, or name "
          "it by ",
          RowOf(Variable::kCompiler).name);
    return status.WithPrefix(StrCat(op, ": "));
  }
  return std::shared_ptr<Executable>(*std::move(executable));
}

StatusOr<std::shared_ptr<Executable>> LoadContainer(int device, std::string_view container) {
  NEURON_ASSIGN_OR_RETURN(compiler::Signature signature, SignatureOf(container));
  return LoadContainer(device, container, std::move(signature));
}

StatusOr<std::shared_ptr<Executable>> LoadContainer(int device, std::string_view container,
                                                    compiler::Signature signature) {
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  NEURON_ASSIGN_OR_RETURN(
      std::shared_ptr<LoadedExecutable> executable,
      LoadedExecutable::Load(*found, std::string(container), std::move(signature)));
  return std::shared_ptr<Executable>(std::move(executable));
}

CacheStatistics GetCacheStatistics() { return Cache().Statistics(); }

}  // namespace neuron::runtime
