// Kernels named by one instruction: which opcodes have one, and who emits it. A hero's emitter
// stores the kernel's results itself; with an epilogue it gives its tiles to a LoopBody.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

bool IsHero(const hlo::Instruction& x);
// True if its emitter gives its tiles to a LoopBody, whatever else the kernel's members are.
bool TakesEpilogue(const hlo::Instruction& x);
// True if its emitter knows sizes that depend on the run-time extent (hlo/extent.h).
bool TakesExtents(const hlo::Instruction& x);
Status EmitHero(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
