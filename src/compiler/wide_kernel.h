// Arithmetic that only GpSimd does (64-bit, complex): HLO turned into the expression programs of
// isa/wide_program.h, and the kernels that run them from HBM to HBM.
#pragma once

#include "compiler/emitter.h"
#include "isa/kernel_parameters.h"

namespace neuron::compiler {

// Elementwise members as one wide_elementwise.
Status EmitWideKernel(EmitContext& ctx, const Kernel& kernel);
// A reduce with any combiner, any number of operands and any dtypes as one wide_reduce.
Status EmitWideReduce(EmitContext& ctx, const Kernel& kernel);

// A computation of elementwise instructions (combiner, comparator): its parameters are the
// program's inputs, its root (or the root tuple's elements) the outputs.
StatusOr<isa::WideProgram> WideProgramOf(const hlo::Computation& computation);
// The operation of an elementwise instruction; kNone if it has none.
isa::WideOp WideOpOf(const hlo::Instruction& x);

// Where an operand of a kernel is: its buffer's span, and the view of it over the operand's shape.
struct KernelInput {
  AccessPattern span;
  isa::StridedView view;
  DType dtype = DType::kInvalid;
};
KernelInput InputOf(EmitContext& ctx, const hlo::Instruction* operand);

}  // namespace neuron::compiler
