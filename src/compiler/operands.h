// Operands of heroes: views with a buffer behind them.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// The view of a hero's operand, with a buffer. A constant goes into the container; so does an iota,
// whose values are known.
StatusOr<View> OperandView(EmitContext& ctx, const hlo::Instruction* operand);

// The operand's elements in row-major order as one flat HBM tile, what GpSimd kernels take: a part
// of its buffer if they lie there so, else a scratch copy made by DMA.
StatusOr<AccessPattern> DenseOperand(EmitContext& ctx, const hlo::Instruction* operand);

// All of a value's buffer as one flat HBM tile of `dtype` elements.
AccessPattern FlatTile(const EmitContext& ctx, const hlo::Instruction* base, DType dtype);

}  // namespace neuron::compiler
