// Values that depend on indices only: a few elementwise instructions on iotas and numbers, such as
// a causal mask. They are computed where they are read, every time: in HBM they would have to be
// written once and read by all.
#pragma once

#include "hlo/module.h"

namespace neuron::compiler {

// True for such an expression of at least one elementwise instruction, on numbers that the engines
// compute with directly.
bool IsIndexValue(const hlo::Instruction& x);

}  // namespace neuron::compiler
