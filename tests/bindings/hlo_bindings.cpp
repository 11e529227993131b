#include <string>

#include "../hlo/example_modules.h"
#include "bindings.h"
#include "hlo/module.h"
#include "hlo/proto.h"

namespace neuron::testing {
namespace {

namespace py = pybind11;

// The module that these bytes describe, or the exception of what is wrong with them.
hlo::Module Parse(const py::bytes& proto) {
  return ValueOrRaise(hlo::FromProto(std::string_view(proto)));
}

std::string Text(const py::bytes& proto, bool metadata) { return Parse(proto).ToText(metadata); }

py::bytes RoundTrip(const py::bytes& proto) { return {hlo::ToProto(Parse(proto))}; }

// A copy of a module must be written the same.
bool CloneIsEqual(const py::bytes& proto) {
  const hlo::Module module = Parse(proto);
  return hlo::ToProto(module.Clone()) == hlo::ToProto(module);
}

py::dict BuilderExamples() {
  py::dict examples;
  for (hlo::examples::Example& example : hlo::examples::All())
    examples[py::str(example.name)] =
        py::bytes(hlo::ToProto(ValueOrRaise(std::move(example.module))));
  return examples;
}

}  // namespace

void BindHlo(py::module_& m) {
  py::module_ hlo = m.def_submodule("hlo", "HloModuleProto bytes in and out.");
  hlo.def("verify", [](const py::bytes& proto) { Parse(proto); }, py::arg("proto"));
  hlo.def("round_trip", &RoundTrip, py::arg("proto"), "ToProto(FromProto(proto)).");
  hlo.def("text", &Text, py::arg("proto"), py::arg("metadata") = false);
  hlo.def("builder_examples", &BuilderExamples, "{name: proto} of tests/hlo/example_modules.h.");
  hlo.def("clone_is_equal", &CloneIsEqual, py::arg("proto"));
}

}  // namespace neuron::testing
