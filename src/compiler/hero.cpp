#include "compiler/hero.h"

#include <algorithm>

#include "compiler/control_flow.h"
#include "compiler/convolution.h"
#include "compiler/dot.h"
#include "compiler/dot_problem.h"
#include "compiler/indirect.h"
#include "compiler/irregular.h"
#include "compiler/long_reduce.h"
#include "compiler/movement.h"
#include "compiler/reduce_window.h"
#include "compiler/reduction.h"
#include "compiler/scan.h"
#include "compiler/wide_kernel.h"

namespace neuron::compiler {

using hlo::Opcode;

bool IsHero(const hlo::Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kCholesky:
    case Opcode::kConcatenate:
    case Opcode::kConditional:
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kFft:
    case Opcode::kGather:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kRngBitGenerator:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kTriangularSolve:
    case Opcode::kWhile:
      return true;
    case Opcode::kCustomCall:
      return IsKnownCustomCall(x);
    default:
      return false;
  }
}

bool TakesExtents(const hlo::Instruction& x) {
  return x.opcode() == Opcode::kConcatenate || x.opcode() == Opcode::kGather ||
         (x.opcode() == Opcode::kDot && IsTensorEngineDot(x));
}

bool TakesEpilogue(const hlo::Instruction& x) {
  return x.opcode() == Opcode::kConvolution || (x.opcode() == Opcode::kDot && IsTensorEngineDot(x));
}

Status EmitHero(EmitContext& ctx, const Kernel& kernel) {
  ctx.SetSource(kernel.hero);
  const auto is_empty = [](const hlo::Instruction* x) { return x->shape().num_elements() == 0; };
  if (!kernel.results.empty() &&
      std::all_of(kernel.results.begin(), kernel.results.end(), is_empty))
    return OkStatus();
  switch (kernel.hero->opcode()) {
    case Opcode::kCholesky:
      return EmitCholesky(ctx, kernel);
    case Opcode::kConcatenate:
      return EmitConcatenate(ctx, kernel);
    case Opcode::kConditional:
      return EmitConditional(ctx, kernel);
    case Opcode::kConvolution:
      return EmitConvolution(ctx, kernel);
    case Opcode::kCustomCall:
      return EmitTopK(ctx, kernel);
    case Opcode::kDot:
      return EmitDot(ctx, kernel);
    case Opcode::kDynamicSlice:
      return EmitDynamicSlice(ctx, kernel);
    case Opcode::kDynamicUpdateSlice:
      return EmitDynamicUpdateSlice(ctx, kernel);
    case Opcode::kFft:
      return EmitFft(ctx, kernel);
    case Opcode::kGather:
      return EmitGather(ctx, kernel);
    case Opcode::kPad:
      return EmitPad(ctx, kernel);
    case Opcode::kReduce:
      return ReductionAlu(*kernel.hero) ? EmitLongReduce(ctx, kernel) : EmitWideReduce(ctx, kernel);
    case Opcode::kReduceWindow:
      return IsScan(*kernel.hero) ? EmitScan(ctx, kernel) : EmitReduceWindow(ctx, kernel);
    case Opcode::kRngBitGenerator:
      return EmitRngBitGenerator(ctx, kernel);
    case Opcode::kScatter:
      return EmitScatter(ctx, kernel);
    case Opcode::kSelectAndScatter:
      return EmitSelectAndScatterGeneral(ctx, kernel);
    case Opcode::kSort:
      return EmitSort(ctx, kernel);
    case Opcode::kTopK:
      return EmitTopK(ctx, kernel);
    case Opcode::kTriangularSolve:
      return EmitTriangularSolve(ctx, kernel);
    case Opcode::kWhile:
      return EmitWhile(ctx, kernel);
    default:
      return Unimplemented("compiler: no kernel for ", kernel.hero->name());
  }
}

}  // namespace neuron::compiler
