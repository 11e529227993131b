// Python values to instruction operands, by the kind that the declaration gives.
//
//   tile                   AccessPattern (sbuf(), psum(), hbm())
//   number, scalar         float or int; Register for a run-time scalar
//   integer, flag          int
//   register expression    Affine, Register or int
//   ALU operator           its name; activation function: its name
//   text, integers         str, sequence of int
// None leaves out an optional operand. What does not fit raises Error.
#pragma once

#include <pybind11/pybind11.h>

#include "base/status.h"
#include "isa/instruction.h"

namespace neuron::nki {

StatusOr<isa::Operand> ToOperand(const isa::InstructionDef& row, size_t index,
                                 pybind11::handle value);
StatusOr<isa::Affine> ToAffine(pybind11::handle value);

}  // namespace neuron::nki
