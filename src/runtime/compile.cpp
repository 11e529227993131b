#include "runtime/compile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/environment.h"
#include "base/sha256.h"
#include "hlo/proto.h"
#include "isa/program.h"
#include "isa/target.h"
#include "nrt/loader.h"
#include "runtime/subprocess.h"

namespace neuron::runtime {
namespace {

namespace fs = std::filesystem;

// Metadata (source lines) and names of values do not change the program.
std::string NormalisedProto(const hlo::Module& module) {
  hlo::Module clone = module.Clone();
  for (const auto& computation : clone.computations()) {
    for (const auto& instruction : computation->instructions())
      computation->SetMetadata(instruction.get(), "");
  }
  return hlo::ToProto(clone);
}

StatusOr<std::string> AskVersion(const std::string& command) {
  NEURON_ASSIGN_OR_RETURN(const CommandResult result,
                          RunCommand({command, "--version"}, fs::current_path()));
  if (result.exit_status != 0)
    return FailedPrecondition("'", command, " --version' ended with status ", result.exit_status,
                              ": ", result.output);
  return result.output;
}

bool IsOurs(const std::string& version) { return version.starts_with("neuron-compile "); }

std::string LastLines(const std::string& text, size_t count) {
  size_t at = text.size();
  while (at > 0 && count > 0) {
    at = text.rfind('\n', at - 1);
    if (at == std::string::npos) return text;
    --count;
  }
  return text.substr(at + (at < text.size() && text[at] == '\n' ? 1 : 0));
}

StatusOr<std::string> ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream contents;
  contents << file.rdbuf();
  if (!file || contents.str().empty()) return NotFound(path.string(), " is missing or empty");
  return std::move(contents).str();
}

// `version` tells whose options the command understands.
StatusOr<std::string> RunCompiler(const std::string& command, const std::string& version,
                                  const hlo::Module& module, const compiler::Options& options) {
  NEURON_ASSIGN_OR_RETURN(const TemporaryDirectory directory, TemporaryDirectory::Make());
  const fs::path input = directory.path() / "module.hlo.pb";
  const fs::path output = directory.path() / "module.neff";
  {
    std::ofstream file(input, std::ios::binary);
    file << hlo::ToProto(module);
    if (!file.flush()) return Unavailable(input.string(), " cannot be written");
  }
  // It runs in another directory.
  const bool is_path = command.find('/') != std::string::npos;
  std::vector<std::string> arguments = {is_path ? fs::absolute(command).string() : command,
                                        "compile",
                                        "--framework",
                                        "XLA",
                                        input,
                                        "--target",
                                        std::string(isa::RowOf(options.target).name),
                                        "--lnc",
                                        StrCat(options.lnc),
                                        "--output",
                                        output};
  const bool scalars = std::count(options.parameters.begin(), options.parameters.end(),
                                  compiler::ParameterPlace::kScalarBlock) > 0;
  if (IsOurs(version)) {
    std::string numbers;
    for (size_t i = 0; i < options.parameters.size(); ++i) {
      if (options.parameters[i] == compiler::ParameterPlace::kScalarBlock)
        numbers += StrCat(numbers.empty() ? "" : ",", i);
    }
    if (scalars) arguments.push_back("--scalar-parameters=" + numbers);
    if (options.relaxed) arguments.emplace_back("--relaxed");
    if (!options.dump_directory.empty())
      arguments.push_back("--dump-directory=" + fs::absolute(options.dump_directory).string());
  } else if (scalars) {
    return Unimplemented(command,
                         " takes no run-time scalars; only neuron-compile programs carry them yet");
  } else {
    // Explicit, since that compiler's defaults change between versions.
    arguments.insert(arguments.end(), {"--auto-cast=none"});
  }
  NEURON_ASSIGN_OR_RETURN(const CommandResult result, RunCommand(arguments, directory.path()));
  if (result.exit_status != 0)
    return Internal(command, " ended with status ", result.exit_status, ":\n",
                    LastLines(result.output, 20));
  StatusOr<std::string> container = ReadFile(output);
  if (!container.ok())
    return Internal(command, " ended without error but wrote no program:\n",
                    LastLines(result.output, 20));
  return container;
}

}  // namespace

namespace {

// Of PATH; "" if there is none.
std::string FindProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path file = fs::path(directory.empty() ? "." : directory) / name;
    std::error_code error;
    if (access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, error))
      return fs::absolute(file).string();
  }
  return {};
}

}  // namespace

const std::optional<std::string>& CompilerCommand() {
  static const auto& command = *new std::optional<std::string>([]() -> std::optional<std::string> {
    if (std::optional<std::string> named = Read(Variable::kCompiler)) return named;
    const auto& library = nrt::GetLibrary();
    if (!library.ok() || (*library)->emulated()) return std::nullopt;
    const std::string found = FindProgram("neuronx-cc");
    return found.empty() ? std::nullopt : std::optional(found);
  }());
  return command;
}

const StatusOr<std::string>& CompilerIdentity() {
  static const auto& identity = *new StatusOr<std::string>([]() -> StatusOr<std::string> {
    const std::optional<std::string>& command = CompilerCommand();
    if (!command) return StrCat("neuron-compile ", compiler::BuildId(), "\n");
    StatusOr<std::string> version = AskVersion(*command);
    if (!version.ok())
      return version.status().WithPrefix(Read(Variable::kCompiler)
                                             ? StrCat(RowOf(Variable::kCompiler).name, ": ")
                                             : std::string("neuronx-cc of PATH: "));
    return version;
  }());
  return identity;
}

StatusOr<std::string> CacheKey(const hlo::Module& module, const compiler::Options& options) {
  const StatusOr<std::string>& identity = CompilerIdentity();
  if (!identity.ok()) return identity.status();
  std::string places;
  for (const compiler::ParameterPlace place : options.parameters)
    places += place == compiler::ParameterPlace::kBuffer ? 'b' : 's';
  Sha256 hash;
  hash.Update(StrCat("torchneuron executable 1\n", *identity, isa::RowOf(options.target).name,
                     " lnc ", options.lnc, " relaxed ", options.relaxed, " parameters ", places,
                     "\n"));
  if (options.extent_bound > 0) {
    hash.Update(StrCat("extent bound ", options.extent_bound, "\n"));
    for (const auto& strides : options.strides) {
      for (const int64_t stride : strides) hash.Update(StrCat(stride, " "));
      hash.Update("\n");
    }
  }
  hash.Update(NormalisedProto(module));
  return ToHex(hash.Finish());
}

StatusOr<std::string> CompileToContainer(const hlo::Module& module,
                                         const compiler::Options& options) {
  if (const std::optional<std::string>& command = CompilerCommand()) {
    if (!CompilerIdentity().ok()) return CompilerIdentity().status();
    return RunCompiler(*command, *CompilerIdentity(), module, options);
  }
  NEURON_ASSIGN_OR_RETURN(const compiler::CompiledProgram compiled,
                          compiler::Compile(module, options));
  return compiler::ToContainer(compiled);
}

StatusOr<std::string> CompileWithCommand(const std::string& command, const hlo::Module& module,
                                         const compiler::Options& options) {
  NEURON_ASSIGN_OR_RETURN(const std::string version, AskVersion(command));
  return RunCompiler(command, version, module, options);
}

StatusOr<compiler::Signature> SignatureOf(std::string_view container) {
  NEURON_ASSIGN_OR_RETURN(const isa::Program program, isa::Decode(container));
  if (!program.metadata.empty()) return compiler::ReadSignature(container);
  compiler::Signature signature;
  int64_t inputs = 0, outputs = 0;
  for (const isa::TensorDecl& tensor : program.tensors) {
    const bool in =
        tensor.kind == isa::TensorKind::kInput || tensor.kind == isa::TensorKind::kInOut;
    const bool out =
        tensor.kind == isa::TensorKind::kOutput || tensor.kind == isa::TensorKind::kInOut;
    if (!in && !out) continue;
    compiler::Signature::Buffer buffer{.name = tensor.name, .bytes = tensor.bytes};
    if (in) buffer.parameter = inputs++;
    if (out) buffer.output = outputs++;
    if (tensor.byte_offset != isa::kNoRegister)
      buffer.offset_slot = program.registers[tensor.byte_offset].scalar_slot;
    signature.first_scalar_slot = std::max(signature.first_scalar_slot, buffer.offset_slot + 1);
    signature.buffers.push_back(std::move(buffer));
  }
  signature.num_slots = std::max(signature.first_scalar_slot, program.scalar_slots());
  return signature;
}

}  // namespace neuron::runtime
