// What the files of neuron_testing share: a Status becomes a Python exception.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "base/status.h"

namespace neuron::testing {

// ValueError for what the caller got wrong, NotImplementedError for what we lack.
inline void Raise(const Status& status) {
  if (status.ok()) return;
  PyObject* type = IsUnimplemented(status)     ? PyExc_NotImplementedError
                   : IsInvalidArgument(status) ? PyExc_ValueError
                   : IsDataLoss(status)        ? PyExc_ValueError
                                               : PyExc_RuntimeError;
  PyErr_SetString(type, status.ToString().c_str());
  throw pybind11::error_already_set();
}

template <typename T>
T ValueOrRaise(StatusOr<T> result) {
  Raise(result.status());
  return std::move(result).value();
}

// Each adds a submodule named after its layer.
void BindCompiler(pybind11::module_& m);
void BindEmulator(pybind11::module_& m);
void BindHlo(pybind11::module_& m);
void BindLowering(pybind11::module_& m);

}  // namespace neuron::testing
