// Which reductions are one ALU operator. Their order is tensor_reduce's: chunks of 4096 elements,
// 16 lanes and a fixed tree in each, chunk results reduced the same way.
#pragma once

#include <optional>

#include "compiler/emitter.h"

namespace neuron::compiler {

inline constexpr int64_t kReductionChunk = 4096;
inline constexpr int64_t kReductionLanes = 16;
// Longer rows are reduced chunk by chunk, as rows of their own (chunked_reduce.h) or, if they do
// not consist of whole chunks side by side, by a kernel of their own (long_reduce.h).
inline constexpr int64_t kMostRow = 8192;

// The operator of a reduce (or reduce-window, ...) whose combiner is one binary instruction on its
// two parameters; nullopt for other combiners and for wide dtypes.
std::optional<isa::AluOp> ReductionAlu(const hlo::Instruction& reduce);
// The operator's own initial value; none for what reduces nothing.
std::optional<double> IdentityOf(isa::AluOp op, DType dtype);
bool IsIdentity(isa::AluOp op, DType dtype, double value);

}  // namespace neuron::compiler
