// Operands of heroes: views with a buffer behind them.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// The view of a hero's operand, with a buffer. A constant goes into the container; so does an iota,
// whose values are known.
StatusOr<View> OperandView(EmitContext& ctx, const hlo::Instruction* operand);

// All of a value's buffer as one flat HBM tile of `dtype` elements: what GpSimd kernels take.
AccessPattern FlatTile(const EmitContext& ctx, const hlo::Instruction* base, DType dtype);

}  // namespace neuron::compiler
