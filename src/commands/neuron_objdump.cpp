// neuron-objdump: what a compiled program holds, as text. Exit status as neuron-compile's.
#include <cstdio>
#include <string>
#include <vector>

#include "base/json.h"
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
    {"trace", "t", true, "",
     "File for the modelled time line of one execution, for Perfetto or chrome://tracing."},
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

// What the model says of one execution alone.
struct Modelled {
  int64_t duration_ps = 0;  // 0 if run-time values decide
  std::string events;       // a list in Chrome's trace-event format
};

StatusOr<Modelled> ModelledExecution(const std::string& container) {
  const StatusOr<const nrt::Library*>& library = nrt::GetLibrary();
  NEURON_RETURN_IF_ERROR(library.status());
  const nrt::Library& nrt = **library;
  if (!nrt.device_time())
    return FailedPrecondition("modelled time needs the emulator, not ", nrt.path);
  NEURON_RETURN_IF_ERROR(nrt.Check(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init"));
  nrt_model_t* model = nullptr;
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_load(container.data(), container.size(), 0, 1, &model), "nrt_load"));
  const Modelled modelled = {
      .duration_ps = static_cast<int64_t>(nrt.nrt_emulator_last_duration_ps(model)),
      .events = nrt.nrt_emulator_trace(model)};
  NEURON_RETURN_IF_ERROR(nrt.Check(nrt.nrt_unload(model), "nrt_unload"));
  nrt.nrt_close();
  return modelled;
}

// The events, and before them the names of processes (cores) and rows (engines, DMA queues).
std::string TraceText(const std::string& name, size_t cores, const std::string& events) {
  constexpr int kFirstQueue = 16, kDmaQueues = 8;  // timeline.cpp
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  const auto add = [&](const char* what, size_t core, int row, const std::string& value) {
    text += StrCat(text.ends_with('[') ? "" : ",", "{\"ph\": \"M\", \"name\": \"", what,
                   "\", \"pid\": ", core, ", \"tid\": ", row,
                   ", \"args\": {\"name\": ", JsonQuoted(value), "}}");
  };
  for (size_t core = 0; core < cores; ++core) {
    add("process_name", core, 0, StrCat(name, ", NeuronCore ", core));
    for (int e = 1; e < isa::kNumEngines; ++e)
      if (static_cast<isa::Engine>(e) != isa::Engine::kDma)
        add("thread_name", core, e, std::string(isa::EngineName(static_cast<isa::Engine>(e))));
    for (int queue = 0; queue < kDmaQueues; ++queue)
      add("thread_name", core, kFirstQueue + queue, StrCat("DMA queue ", queue));
  }
  if (events.size() > 2) text += StrCat(",", events.substr(1, events.size() - 2));
  return text + "]}\n";
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
  Modelled modelled;
  if (utilisation || arguments.given("trace")) {
    NEURON_ASSIGN_OR_RETURN(modelled, ModelledExecution(container));
  }
  if (arguments.given("trace")) {
    NEURON_RETURN_IF_ERROR(
        WriteFile(arguments.value("trace"),
                  TraceText(programs->front().name, programs->size(), modelled.events)));
    if (!utilisation) return OkStatus();
  }
  for (size_t core = 0; core < programs->size(); ++core) {
    if (programs->size() > 1) std::printf("; physical core %zu\n", core);
    const isa::Program& program = (*programs)[core];
    const std::string text =
        utilisation ? UtilisationText(program, modelled.duration_ps) : isa::Disassemble(program);
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
