// Heroes that are irregular on the chip too: each is one GpSimd kernel over dense spans of HBM.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

Status EmitSort(EmitContext& ctx, const Kernel& kernel);
Status EmitGatherGeneral(EmitContext& ctx, const Kernel& kernel);
Status EmitScatterGeneral(EmitContext& ctx, const Kernel& kernel);
Status EmitRngBitGenerator(EmitContext& ctx, const Kernel& kernel);
Status EmitFft(EmitContext& ctx, const Kernel& kernel);
Status EmitTriangularSolve(EmitContext& ctx, const Kernel& kernel);
Status EmitCholesky(EmitContext& ctx, const Kernel& kernel);
Status EmitReduceWindowGeneral(EmitContext& ctx, const Kernel& kernel);
Status EmitSelectAndScatterGeneral(EmitContext& ctx, const Kernel& kernel);
// Targets: "TopK".
Status EmitTopK(EmitContext& ctx, const Kernel& kernel);
bool IsKnownCustomCall(const hlo::Instruction& call);

}  // namespace neuron::compiler
