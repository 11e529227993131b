// The parts of nki._core, one file each.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/typing.h>

#include <utility>

#include "base/status.h"
#include "isa/access_pattern.h"
#include "isa/instruction.h"

namespace neuron::nki {

// Signatures name types and arguments: nki/_core.pyi is generated from them.
using AffineLike = pybind11::typing::Union<isa::Affine, isa::RegisterOperand, pybind11::int_>;

void BindErrors(pybind11::module_& m);          // errors.cpp
void BindTables(pybind11::module_& m);          // tables.cpp
void BindPatterns(pybind11::module_& m);        // patterns.cpp
void BindPrograms(pybind11::module_& m);        // programs.cpp
void BindReferencePages(pybind11::module_& m);  // reference_pages.cpp

// A failed Status as Python's _core.Error(code name, message).
[[noreturn]] void Raise(const Status& status);
inline void RaiseIfError(const Status& status) {
  if (!status.ok()) Raise(status);
}
template <typename T>
T ValueOrRaise(StatusOr<T> value) {
  if (!value.ok()) Raise(value.status());
  return std::move(value).value();
}

}  // namespace neuron::nki
