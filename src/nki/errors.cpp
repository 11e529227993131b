#include "nki/bindings.h"

namespace neuron::nki {

namespace py = pybind11;

namespace {
py::handle error_type;  // alive as long as the module
}

void BindErrors(py::module_& m) {
  error_type = PyErr_NewException("nki._core.Error", PyExc_RuntimeError, nullptr);
  m.attr("Error") = error_type;
}

void Raise(const Status& status) {
  const py::tuple arguments =
      py::make_tuple(std::string(StatusCodeName(status.code())), std::string(status.message()));
  PyErr_SetObject(error_type.ptr(), arguments.ptr());
  throw py::error_already_set();
}

}  // namespace neuron::nki
