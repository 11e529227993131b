// Loops and branches of HLO as loops of the sequencers. A computation that is called is planned and
// emitted as a program is; its arguments and results are the caller's buffers in HBM.
#pragma once

#include "compiler/buffers.h"
#include "compiler/emitter.h"

namespace neuron::compiler {

// The kernels of `module` at this place of the caller's program.
Status EmitCalled(EmitContext& caller, const hlo::Module& module, const Binding& binding);

// hero: while. Operands: the leaves of the state; results: those that the body changes (called.h).
Status EmitWhile(EmitContext& ctx, const Kernel& kernel);
// hero: conditional. Operands: the index, then the leaves of every branch's argument.
Status EmitConditional(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
