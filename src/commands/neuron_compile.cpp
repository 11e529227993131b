// neuron-compile: an HLO module in, a NeuronCore program out, with the options of neuronx-cc that
// have a meaning here. Exit status: 0; 1 the module cannot be compiled; 2 wrong command line.
#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

#include "commands/arguments.h"
#include "commands/files.h"
#include "compiler/compiler.h"
#include "compiler/refusals.h"
#include "hlo/proto.h"
#include "isa/target.h"

namespace neuron::commands {
namespace {

constexpr OptionRow kOptions[] = {
    {"framework", "", true, "XLA", "What made the module: XLA."},
    {"target", "", true, "", "Chip: trn2 (gen3) or trn3 (gen4). Required."},
    {"lnc", "logical-nc-config", true, "1", "Physical NeuronCores per logical one: 1 or 2."},
    {"output", "o", true, "file.neff", "Where the program is written."},
    {"scalar-parameters", "", true, "",
     "Numbers of rank-0 parameters that are passed at run time in the scalar block: 1,3."},
    {"relaxed", "", false, "", "Reductions may be reassociated (torch.compile)."},
    {"dump-directory", "", true, "", "Directory for the module after each pass, as text."},
    {"optlevel", "O", true, "2", "1, 2 or 3; all give the same program."},
    {"model-type", "", true, "generic", "generic, transformer or unet-inference; no effect."},
    {"auto-cast", "", true, "none",
     "fp32 work in a narrower format: none, matmult (dots and convolutions) or all."},
    {"auto-cast-type", "", true, "bf16", "That format: bf16, fp16, tf32 or fp8_e4m3."},
    {"native-int64", "", true, "default", "64-bit integers are native; disabled has no effect."},
    {"implicit-integer-downcast", "", true, "default",
     "Integers keep their width; all or a list has no effect."},
    {"distribution-strategy", "", true, "", "llm-training or nemo; no effect."},
    {"enable-mixed-precision-accumulation", "", false, "", "Sums of 16-bit floats are fp32: on."},
    {"disable-mixed-precision-accumulation", "", false, "", "No effect: sums stay fp32."},
    {"enable-saturate-infinity", "", false, "", "No effect: of trn1 only."},
    {"enable-fast-context-switch", "", false, "", "No effect: constants are part of the program."},
    {"enable-fast-loading-neuron-binaries", "", false, "",
     "No effect: programs are not compressed."},
    {"logfile", "", true, "", "File for what the command says, beside standard error."},
    {"verbose", "", true, "warning", "info prints what was written."},
    {"help", "h", false, "", "This text."},
};

int Usage(const Status& status) {
  std::fprintf(stderr, "neuron-compile: %s\n", std::string(status.message()).c_str());
  return 2;
}

StatusOr<std::vector<int64_t>> Numbers(const std::string& text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, number);
    if (error != std::errc() || rest != text.data() + end || number < 0)
      return InvalidArgument("--scalar-parameters takes numbers separated by commas, got '", text,
                             "'");
    numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

template <typename T>
struct Named {
  std::string_view name;
  T value;
};
using CastName = Named<compiler::AutoCast>;
using CastTypeName = Named<DType>;
constexpr CastName kCasts[] = {{"none", compiler::AutoCast::kNone},
                               {"matmult", compiler::AutoCast::kMatmult},
                               {"all", compiler::AutoCast::kAll}};
constexpr CastTypeName kCastTypes[] = {{"bf16", DType::kBF16},
                                       {"fp16", DType::kF16},
                                       {"tf32", DType::kTF32},
                                       {"fp8_e4m3", DType::kF8E4M3}};

template <typename T>
StatusOr<T> Choice(const Arguments& arguments, std::string_view option,
                   std::span<const Named<T>> choices) {
  std::string names;
  for (const Named<T>& choice : choices) {
    if (choice.name == arguments.value(option)) return choice.value;
    names += StrCat(names.empty() ? "" : ", ", choice.name);
  }
  return InvalidArgument("--", option, " should be one of ", names, "; got '",
                         arguments.value(option), "'");
}

// Options of neuronx-cc that change nothing here, where somebody counts on a change.
struct Ineffective {
  std::string_view option, value;  // any value if ""
  std::string_view but;
  std::string_view unless = "default";  // this value asks for nothing
};
constexpr Ineffective kIneffective[] = {
    {"native-int64", "disabled", "64-bit integers are computed with 64 bits"},
    {"implicit-integer-downcast", "", "integers keep their width", "none"},
    {"disable-mixed-precision-accumulation", "", "sums of 16-bit floats are accumulated in fp32"},
    {"enable-saturate-infinity", "", "infinities stay infinities (trn1 alone has this mode)"},
};

std::string NotesOn(const Arguments& arguments) {
  std::string notes;
  for (const Ineffective& row : kIneffective) {
    const std::string value = arguments.value(row.option);
    if (!arguments.given(row.option) || value == "default" || value == row.unless) continue;
    if (!row.value.empty() && value != row.value) continue;
    notes += StrCat("neuron-compile: note: --", row.option, " has no effect: ", row.but, "\n");
  }
  return notes;
}

// The opcodes that compile, as XlaBuilder spells them.
void ListOperators() {
  for (const hlo::Opcode opcode : hlo::AllOpcodes())
    if (!compiler::IsRefused(opcode))
      std::printf("%s\n", std::string(hlo::OpcodeBuilderName(opcode)).c_str());
}

StatusOr<compiler::Options> OptionsFrom(const Arguments& arguments) {
  compiler::Options options;
  if (arguments.value("framework") != "XLA")
    return InvalidArgument("--framework should be XLA, got '", arguments.value("framework"), "'");
  const auto target = isa::TargetFromName(arguments.value("target"));
  if (!target)
    return InvalidArgument(
        arguments.given("target")
            ? StrCat("--target '", arguments.value("target"), "' is no chip this compiler knows")
            : std::string("--target is missing"),
        "; pass --target trn2 or --target trn3");
  options.target = *target;
  const std::string lnc = arguments.value("lnc");
  if (lnc != "1" && lnc != "2") return InvalidArgument("--lnc should be 1 or 2, got '", lnc, "'");
  options.lnc = lnc[0] - '0';
  NEURON_ASSIGN_OR_RETURN(options.auto_cast,
                          Choice(arguments, "auto-cast", std::span<const CastName>(kCasts)));
  NEURON_ASSIGN_OR_RETURN(
      options.auto_cast_type,
      Choice(arguments, "auto-cast-type", std::span<const CastTypeName>(kCastTypes)));
  const std::string level = arguments.value("optlevel");
  if (level != "1" && level != "2" && level != "3")
    return InvalidArgument("--optlevel should be 1, 2 or 3, got '", level, "'");
  options.relaxed = arguments.given("relaxed");
  options.dump_directory = arguments.value("dump-directory");
  options.verify = true;
  return options;
}

int Main(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "--version") {
    std::printf("neuron-compile %s\n", compiler::BuildId().c_str());
    return 0;
  }
  const StatusOr<Arguments> arguments = Arguments::Parse(kOptions, words);
  if (!arguments.ok()) return Usage(arguments.status());
  if (arguments->given("help") || words.empty()) {
    std::printf(
        "neuron-compile compile --framework XLA --target trn2 FILE.hlo.pb "
        "[--output FILE.neff]\nneuron-compile list-operators --framework XLA\n"
        "neuron-compile --version\n\n%s",
        HelpText(kOptions).c_str());
    return words.empty() ? 2 : 0;
  }
  const std::vector<std::string>& files = arguments->files();
  if (files.size() == 1 && files[0] == "list-operators") {
    ListOperators();
    return 0;
  }
  if (files.empty() || files[0] != "compile")
    return Usage(InvalidArgument("the first word should be 'compile' or 'list-operators', got '",
                                 files.empty() ? "" : files[0], "'"));
  if (files.size() != 2)
    return Usage(
        InvalidArgument("compile takes one file, an HloModuleProto; got ", files.size() - 1));
  StatusOr<compiler::Options> options = OptionsFrom(*arguments);
  if (!options.ok()) return Usage(options.status());
  const StatusOr<std::vector<int64_t>> scalars = Numbers(arguments->value("scalar-parameters"));
  if (!scalars.ok()) return Usage(scalars.status());

  const auto compile = [&]() -> Status {
    NEURON_ASSIGN_OR_RETURN(const std::string proto, ReadFile(files[1]));
    StatusOr<hlo::Module> module = hlo::FromProto(proto);
    if (!module.ok()) return module.status().WithPrefix(files[1] + " holds no HloModuleProto: ");
    if (const Status verified = hlo::Verify(*module); !verified.ok())
      return verified.WithPrefix(files[1] + ": ");
    const size_t parameters = module->entry()->Parameters().size();
    if (!scalars->empty()) options->parameters.resize(parameters);
    for (const int64_t number : *scalars) {
      if (number >= static_cast<int64_t>(parameters))
        return InvalidArgument("--scalar-parameters names parameter ", number, ", the module has ",
                               parameters);
      options->parameters[static_cast<size_t>(number)] = compiler::ParameterPlace::kScalarBlock;
    }
    StatusOr<compiler::CompiledProgram> compiled = compiler::Compile(*module, *options);
    if (!compiled.ok()) return compiled.status().WithPrefix(files[1] + ": ");
    return WriteFile(arguments->value("output"), compiler::ToContainer(*compiled));
  };
  const Status status = compile();
  std::string said = NotesOn(*arguments);
  if (!status.ok()) said += StrCat("neuron-compile: ", status.ToString(), "\n");
  std::fputs(said.c_str(), stderr);
  if (arguments->given("logfile")) {
    said +=
        StrCat(files[1], status.ok() ? ": Compiler status PASS\n" : ": Compiler status ERROR\n");
    if (const Status written = WriteFile(arguments->value("logfile"), said); !written.ok())
      return Usage(written);
  }
  if (!status.ok()) return 1;
  if (arguments->value("verbose") == "info")
    std::printf("%s: written\n", arguments->value("output").c_str());
  return 0;
}

}  // namespace
}  // namespace neuron::commands

int main(int count, char** words) {
  return neuron::commands::Main(std::vector<std::string>(words + 1, words + count));
}
