// Wide numbers (64-bit, complex) on tiles, word by word, where Vector is exact: copies, selects,
// widening and narrowing of integers, bitwise operators. Arithmetic is GpSimd's (wide_kernel.h).
#pragma once

#include "compiler/elementwise.h"

namespace neuron::compiler {

// As EmitElementwise, for an operation with a wide operand or result. Requires IsWideMovement.
Status EmitWide(EmitContext& ctx, const hlo::Instruction& op, const AccessPattern& dst,
                std::span<const Arg> args);
bool IsWideMovement(const hlo::Instruction& op);
// True if the result or an operand is wide.
bool TouchesWide(const hlo::Instruction& op);

// 64-bit integers from narrower ones: low word, and its sign as the high word.
Status WidenInteger(EmitContext& ctx, const AccessPattern& dst, const Arg& narrow);

// dst = a number.
Status FillWide(EmitContext& ctx, const AccessPattern& dst, DType dtype, double value);

}  // namespace neuron::compiler
