// neuron-objdump: what a compiled program holds, as text. Exit status as neuron-compile's.
#include <cstdio>
#include <string>
#include <vector>

#include "commands/arguments.h"
#include "commands/files.h"
#include "commands/utilisation.h"
#include "compiler/compiler.h"
#include "isa/core_programs.h"
#include "nrt/loader.h"

namespace neuron::commands {
namespace {

constexpr OptionRow kOptions[] = {
    {"signature", "s", false, "", "Only the program's arguments."},
    {"utilisation", "u", false, "",
     "How busy engines, HBM and memories on chip are, by the model."},
    {"help", "h", false, "", "This text."},
};

std::string SignatureText(const compiler::Signature& signature) {
  std::string text;
  for (const compiler::Signature::Buffer& buffer : signature.buffers) {
    text += StrCat("; ", buffer.name, ": ", buffer.bytes, " bytes");
    if (buffer.parameter >= 0) text += StrCat(", parameter ", buffer.parameter);
    if (buffer.output >= 0) text += StrCat(", result ", buffer.output);
    if (buffer.offset_slot >= 0) text += StrCat(", byte offset in slot ", buffer.offset_slot);
    text += "\n";
  }
  for (size_t i = 0; i < signature.scalar_parameters.size(); ++i)
    text += StrCat("; slot ", signature.first_scalar_slot + static_cast<int64_t>(i),
                   ": scalar parameter ", signature.scalar_parameters[i], "\n");
  return text;
}

// Modelled time of one execution alone; 0 if run-time values decide.
StatusOr<int64_t> DurationPs(const std::string& container) {
  const StatusOr<const nrt::Library*>& library = nrt::GetLibrary();
  NEURON_RETURN_IF_ERROR(library.status());
  const nrt::Library& nrt = **library;
  if (!nrt.device_time())
    return FailedPrecondition("modelled time needs the emulator, not ", nrt.path);
  NEURON_RETURN_IF_ERROR(nrt.Check(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init"));
  nrt_model_t* model = nullptr;
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_load(container.data(), container.size(), 0, 1, &model), "nrt_load"));
  const auto duration = static_cast<int64_t>(nrt.nrt_emulator_last_duration_ps(model));
  NEURON_RETURN_IF_ERROR(nrt.Check(nrt.nrt_unload(model), "nrt_unload"));
  nrt.nrt_close();
  return duration;
}

Status Dump(const std::string& path, const Arguments& arguments) {
  NEURON_ASSIGN_OR_RETURN(const std::string container, ReadFile(path));
  const StatusOr<std::vector<isa::Program>> programs = isa::DecodeCores(container);
  if (!programs.ok()) return programs.status().WithPrefix(path + ": ");
  std::printf("; %s: %s\n", path.c_str(), programs->front().name.c_str());
  if (!programs->front().metadata.empty()) {
    NEURON_ASSIGN_OR_RETURN(const compiler::Signature signature,
                            compiler::ReadSignature(container));
    std::printf("%s", SignatureText(signature).c_str());
  }
  if (arguments.given("signature")) return OkStatus();
  const bool utilisation = arguments.given("utilisation");
  int64_t duration_ps = 0;
  if (utilisation) {
    NEURON_ASSIGN_OR_RETURN(duration_ps, DurationPs(container));
  }
  for (size_t core = 0; core < programs->size(); ++core) {
    if (programs->size() > 1) std::printf("; physical core %zu\n", core);
    const isa::Program& program = (*programs)[core];
    const std::string text =
        utilisation ? UtilisationText(program, duration_ps) : isa::Disassemble(program);
    std::printf("%s", text.c_str());
  }
  return OkStatus();
}

int Main(const std::vector<std::string>& words) {
  const StatusOr<Arguments> arguments = Arguments::Parse(kOptions, words);
  if (!arguments.ok()) {
    std::fprintf(stderr, "neuron-objdump: %s\n", std::string(arguments.status().message()).c_str());
    return 2;
  }
  if (arguments->given("help") || arguments->files().empty()) {
    std::printf("neuron-objdump FILE.neff...\n\n%s", HelpText(kOptions).c_str());
    return arguments->given("help") ? 0 : 2;
  }
  int result = 0;
  for (const std::string& path : arguments->files()) {
    if (const Status status = Dump(path, *arguments); !status.ok()) {
      std::fprintf(stderr, "neuron-objdump: %s\n", status.ToString().c_str());
      result = 1;
    }
  }
  return result;
}

}  // namespace
}  // namespace neuron::commands

int main(int count, char** words) {
  return neuron::commands::Main(std::vector<std::string>(words + 1, words + count));
}
