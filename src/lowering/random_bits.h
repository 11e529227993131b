// Random numbers of one call, from its Philox key and offset. Element i's numbers are a function of
// (key, offset, i) alone, whatever the tiling.
#pragma once

#include "lowering/args.h"
#include "lowering/dims.h"
#include "lowering/expr.h"

namespace neuron::lowering {

// u32 or u64 of `dims`.
Expr RandomBits(Args& args, const Dims& dims, DType dtype);
// [0, 1) in f32 (or f64 for f64): multiples of 2^-digits, exact in `dtype`.
Expr RandomUniform(Args& args, const Dims& dims, DType dtype);
Expr UniformFromBits(Expr bits, DType dtype);
// Mean 0, deviation 1, in f32 (or f64).
Expr RandomNormal(Args& args, const Dims& dims, DType dtype);

}  // namespace neuron::lowering
