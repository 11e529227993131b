// nki._core: what the Python package builds kernels with. Private: the package's own code only.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "isa/reference_page.h"
#include "nki/bindings.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "Programs of the NeuronCore: tables, builder, execution. Private to nki.";
  neuron::nki::BindErrors(m);
  neuron::nki::BindTables(m);
  neuron::nki::BindPatterns(m);
  neuron::nki::BindPrograms(m);
  m.def("isa_reference_page", &neuron::isa::ReferencePage);
}
