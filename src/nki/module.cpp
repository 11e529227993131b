// nki._core: what the Python package builds kernels with. Private: the package's own code only.
#include <pybind11/pybind11.h>

#include "nki/bindings.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "Programs of the NeuronCore: tables, builder, execution. Private to nki.";
  neuron::nki::BindErrors(m);
  neuron::nki::BindTables(m);
  neuron::nki::BindPatterns(m);
  neuron::nki::BindPrograms(m);
  neuron::nki::BindReferencePages(m);
}
