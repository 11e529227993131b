// Prefix scans (cumsum, cumprod, cummax): a reduce-window whose window is everything up to here.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

bool IsScan(const hlo::Instruction& x);
Status EmitScan(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
