#include <pybind11/stl.h>

#include <map>
#include <tuple>

#include "isa/program_builder.h"
#include "isa/timing.h"
#include "nki/bindings.h"
#include "nki/executable.h"
#include "nki/operand_conversion.h"

namespace neuron::nki {

namespace py = pybind11;

namespace {

isa::Target TargetOf(const std::string& name) {
  const auto target = isa::TargetFromName(name);
  if (!target) Raise(InvalidArgument("no target is named ", name, "; known are trn2 and trn3"));
  return *target;
}

// A ProgramBuilder whose instructions are verified as they are appended, so that an error carries
// the kernel's line.
class Builder {
 public:
  Builder(std::string name, const std::string& target)
      : target_(TargetOf(target)), builder_(std::move(name), target_) {}

  int AddTensor(std::string name, int kind, int64_t bytes) {
    isa::TensorDecl decl;
    decl.name = std::move(name);
    decl.kind = static_cast<isa::TensorKind>(kind);
    decl.bytes = bytes;
    return builder_.AddTensor(std::move(decl));
  }
  int AddConstant(std::string name, const py::bytes& data) {
    return builder_.AddConstant(std::move(name), std::string(data));
  }
  void SetTensor(int index, std::string name, int kind) {
    isa::TensorDecl& decl = builder_.program().tensors.at(static_cast<size_t>(index));
    decl.name = std::move(name);
    decl.kind = static_cast<isa::TensorKind>(kind);
  }
  isa::RegisterOperand AddRegister(int64_t min, int64_t max) {
    return {builder_.AddRegister({.min = min, .max = max})};
  }
  // "kernel.py:41" of the instructions that follow.
  void SetSource(const std::string& source) {
    const auto [at, added] = sources_.try_emplace(source, 0);
    if (added) at->second = builder_.AddSource(source);
    builder_.SetSource(at->second);
  }
  // Operands in the declaration's order; the engine by name.
  size_t Emit(const std::string& mnemonic, const std::string& engine,
              const py::typing::List<py::object>& values) {
    const auto opcode = isa::OpcodeFromMnemonic(mnemonic);
    if (!opcode) Raise(InvalidArgument("no instruction is named ", mnemonic));
    const isa::InstructionDef& row = isa::DefOf(*opcode);
    isa::Instruction instruction;
    instruction.opcode = *opcode;
    instruction.engine = EngineOf(engine);
    instruction.operands.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (row.operands.empty()) Raise(InvalidArgument(mnemonic, ": takes no operands"));
      instruction.operands.push_back(ValueOrRaise(ToOperand(row, i, values[i])));
    }
    RaiseIfError(isa::VerifyInstruction(instruction, target_));
    builder_.Emit(instruction.opcode, instruction.engine, std::move(instruction.operands));
    return builder_.program().instructions.size() - 1;
  }
  isa::RegisterOperand LoopBegin(const AffineLike& begin, const AffineLike& end, int64_t step,
                                 int64_t max_value) {
    return {builder_.LoopBegin(ValueOrRaise(ToAffine(begin)), ValueOrRaise(ToAffine(end)), step,
                               max_value)};
  }
  void WhileBegin(py::handle condition) {
    builder_.Emit(isa::Opcode::while_begin, isa::Engine::kSync,
                  {ValueOrRaise(ToAffine(condition))});
  }
  void LoopEnd() { builder_.LoopEnd(); }
  isa::Program Build() {
    RaiseIfError(isa::Verify(builder_.program()));
    return builder_.program();
  }

 private:
  static isa::Engine EngineOf(const std::string& name) {
    for (int i = 0; i < isa::kNumEngines; ++i)
      if (isa::EngineName(static_cast<isa::Engine>(i)) == name) return static_cast<isa::Engine>(i);
    Raise(InvalidArgument("no engine is named ", name));
  }

  const isa::Target target_;
  isa::ProgramBuilder builder_;
  std::map<std::string, uint32_t> sources_;
};

// Busy nanoseconds per engine of the instructions as they stand, each once.
std::map<std::string, double> BusyNs(const isa::Program& program) {
  std::map<std::string, double> busy;
  for (const isa::Instruction& instruction : program.instructions)
    busy[std::string(isa::EngineName(instruction.engine))] +=
        isa::StaticBusyNs(instruction, program.target);
  return busy;
}

// (mnemonic, engine, busy nanoseconds) of each instruction.
std::vector<std::tuple<std::string, std::string, double>> Costs(const isa::Program& program) {
  std::vector<std::tuple<std::string, std::string, double>> costs;
  for (const isa::Instruction& instruction : program.instructions)
    costs.emplace_back(isa::DefOf(instruction.opcode).mnemonic, isa::EngineName(instruction.engine),
                       isa::StaticBusyNs(instruction, program.target));
  return costs;
}

std::map<std::string, size_t> Mnemonics(const isa::Program& program) {
  std::map<std::string, size_t> counts;
  for (const isa::Instruction& instruction : program.instructions)
    ++counts[std::string(isa::DefOf(instruction.opcode).mnemonic)];
  return counts;
}

// (name, writable buffer, is input, is output)
using PyBinding = std::tuple<std::string, py::buffer, bool, bool>;

int64_t Run(Executable& executable, const std::vector<PyBinding>& arguments) {
  std::vector<py::buffer_info> infos;  // keeps the buffers exported during the run
  std::vector<Binding> bindings;
  for (const auto& [name, buffer, input, output] : arguments) {
    infos.push_back(buffer.request(/*writable=*/output));
    bindings.push_back({name, infos.back().ptr,
                        static_cast<size_t>(infos.back().size * infos.back().itemsize), input,
                        output});
  }
  StatusOr<int64_t> duration = Internal("not run");
  {
    const py::gil_scoped_release release;
    duration = executable.Run(bindings);
  }
  return ValueOrRaise(std::move(duration));
}

}  // namespace

void BindPrograms(py::module_& m) {
  py::class_<isa::Program>(m, "Program")
      .def_readonly("name", &isa::Program::name)
      .def("disassemble", [](const isa::Program& p) { return isa::Disassemble(p); })
      .def("encode", [](const isa::Program& p) { return py::bytes(isa::Encode(p)); })
      .def("busy_ns", &BusyNs)
      .def("costs", &Costs)
      .def("mnemonics", &Mnemonics)
      .def("__len__", [](const isa::Program& p) { return p.instructions.size(); });
  m.def(
      "encode_cores",
      [](const std::vector<isa::Program>& programs) {
        return py::bytes(isa::EncodeCores(programs));
      },
      py::arg("programs"));
  py::class_<Builder>(m, "Builder")
      .def(py::init<std::string, const std::string&>(), py::arg("name"), py::arg("target"))
      .def("add_tensor", &Builder::AddTensor, py::arg("name"), py::arg("kind"), py::arg("nbytes"))
      .def("add_constant", &Builder::AddConstant, py::arg("name"), py::arg("data"))
      .def("set_tensor", &Builder::SetTensor, py::arg("index"), py::arg("name"), py::arg("kind"))
      .def("add_register", &Builder::AddRegister, py::arg("least"), py::arg("most"))
      .def("set_source", &Builder::SetSource, py::arg("source"))
      .def("emit", &Builder::Emit, py::arg("mnemonic"), py::arg("engine"), py::arg("operands"))
      .def("loop_begin", &Builder::LoopBegin, py::arg("begin"), py::arg("end"), py::arg("step"),
           py::arg("max_value"))
      .def("while_begin", &Builder::WhileBegin, py::arg("condition"))
      .def("loop_end", &Builder::LoopEnd)
      .def("build", &Builder::Build);
  py::class_<Executable>(m, "Executable")
      .def(py::init([](const std::vector<isa::Program>& programs, int core) {
             return ValueOrRaise(Executable::Load(programs, core));
           }),
           py::arg("programs"), py::arg("core"))
      .def("run", &Run, py::arg("bindings"))
      .def("duration_ps", &Executable::DurationPs)
      .def("trace_json", &Executable::TraceJson);
}

}  // namespace neuron::nki
