#include <pybind11/stl.h>

#include <map>
#include <memory>

#include "bindings.h"
#include "compiler/compiler.h"
#include "hlo/proto.h"
#include "isa/target.h"
#include "nrt_runner.h"

namespace neuron::testing {
namespace {

namespace py = pybind11;

struct Compiled {
  compiler::CompiledProgram compiled;
  std::string container;
  std::vector<hlo::Shape> outputs;
  std::unique_ptr<NrtProgram> loaded;
};

std::vector<hlo::Shape> OutputsOf(const hlo::Module& module) {
  const hlo::Shape& root = module.entry()->root()->shape();
  return root.is_tuple() ? root.elements : std::vector<hlo::Shape>{root};
}

std::shared_ptr<Compiled> Compile(const py::bytes& proto, const std::vector<int64_t>& scalars,
                                  bool relaxed, const std::string& target,
                                  const std::string& dump_directory) {
  const hlo::Module module = ValueOrRaise(hlo::FromProto(std::string_view(proto)));
  compiler::Options options;
  const auto chip = isa::TargetFromName(target);
  if (!chip) throw py::value_error("no target " + target);
  options.target = *chip;
  options.relaxed = relaxed;
  options.dump_directory = dump_directory;
  options.verify = true;
  options.parameters.assign(module.entry()->Parameters().size(), compiler::ParameterPlace::kBuffer);
  for (int64_t p : scalars)
    options.parameters.at(static_cast<size_t>(p)) = compiler::ParameterPlace::kScalarBlock;
  auto out = std::make_shared<Compiled>();
  out->compiled = ValueOrRaise(compiler::Compile(module, options));
  out->container = compiler::ToContainer(out->compiled);
  out->outputs = OutputsOf(module);
  return out;
}

// A program that the command made of `proto`.
std::shared_ptr<Compiled> FromContainer(const py::bytes& container, const py::bytes& proto) {
  auto out = std::make_shared<Compiled>();
  out->container = container;
  out->compiled.program = ValueOrRaise(isa::Decode(out->container));
  out->compiled.signature = ValueOrRaise(compiler::ReadSignature(out->container));
  out->outputs = OutputsOf(ValueOrRaise(hlo::FromProto(std::string_view(proto))));
  return out;
}

py::dict Opcodes(const Compiled& c) {
  std::map<std::string, int64_t> counts;
  for (const isa::Instruction& i : c.compiled.program.instructions)
    ++counts[std::string(isa::DefOf(i.opcode).mnemonic)];
  py::dict out;
  for (const auto& [name, n] : counts) out[py::str(name)] = n;
  return out;
}

py::list GpSimdKernels(const Compiled& c) {
  py::list out;
  for (const isa::Instruction& i : c.compiled.program.instructions)
    if (i.opcode == isa::Opcode::gpsimd_kernel) out.append(std::get<std::string>(i.operands[0]));
  return out;
}

py::list Buffers(const Compiled& c) {
  py::list out;
  for (const auto& b : c.compiled.signature.buffers)
    out.append(py::make_tuple(b.name, b.bytes, b.parameter, b.output));
  return out;
}

py::list Outputs(const Compiled& c) {
  py::list out;
  for (const hlo::Shape& s : c.outputs)
    out.append(py::make_tuple(std::string(DTypeName(s.dtype)), py::tuple(py::cast(s.dims))));
  return out;
}

// Buffers in signature order (contents of outputs that are not aliased are ignored) and the values
// of the scalar slots; returns the buffers' bytes afterwards.
py::list Run(Compiled& c, const std::vector<py::bytes>& buffers,
             const std::vector<int64_t>& scalars) {
  if (!c.loaded) c.loaded = ValueOrRaise(NrtProgram::Load(c.container, c.compiled.signature));
  std::vector<std::string> bytes;
  for (const py::bytes& b : buffers) bytes.emplace_back(std::string_view(b));
  Status status;
  {
    py::gil_scoped_release release;
    status = c.loaded->Run(bytes, scalars);
  }
  Raise(status);
  py::list out;
  for (const std::string& b : bytes) out.append(py::bytes(b));
  return out;
}

}  // namespace

void BindCompiler(py::module_& m) {
  py::module_ sub = m.def_submodule("compiler", "HLO in, programs out, run through NRT.");
  py::class_<Compiled, std::shared_ptr<Compiled>>(sub, "Compiled")
      .def_property_readonly("container", [](const Compiled& c) { return py::bytes(c.container); })
      .def_property_readonly("disassembly",
                             [](const Compiled& c) { return isa::Disassemble(c.compiled.program); })
      .def_property_readonly("opcodes", &Opcodes, "Instructions of the program by mnemonic.")
      .def_property_readonly("gpsimd_kernels", &GpSimdKernels)
      .def_property_readonly("buffers", &Buffers, "(name, bytes, parameter, output) in order.")
      .def_property_readonly("outputs", &Outputs, "(dtype, dims) of each result.")
      .def_property_readonly(
          "scalar_parameters",
          [](const Compiled& c) { return c.compiled.signature.scalar_parameters; })
      .def_property_readonly("scratch_bytes",
                             [](const Compiled& c) {
                               int64_t n = 0;
                               for (const auto& t : c.compiled.program.tensors)
                                 if (t.kind == isa::TensorKind::kScratch) n += t.bytes;
                               return n;
                             })
      .def("run", &Run, py::arg("buffers"), py::arg("scalars"))
      .def("repeat", [](Compiled& c, int n) { Raise(c.loaded->Repeat(n)); })
      .def_property_readonly("duration_ps",
                             [](const Compiled& c) { return c.loaded->duration_ps(); });
  sub.def("from_container", &FromContainer, py::arg("container"), py::arg("proto"));
  sub.def("compile", &Compile, py::arg("proto"), py::arg("scalars") = std::vector<int64_t>{},
          py::arg("relaxed") = false, py::arg("target") = "trn2", py::arg("dump_directory") = "");
  sub.def("build_id", &compiler::BuildId);
}

}  // namespace neuron::testing
