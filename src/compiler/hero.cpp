#include "compiler/hero.h"

#include "compiler/dot.h"
#include "compiler/movement.h"
#include "compiler/wide_kernel.h"

namespace neuron::compiler {

using hlo::Opcode;

bool IsHero(const hlo::Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kDot:
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kPad:
    case Opcode::kReduce:
      return true;
    default:
      return false;
  }
}

Status EmitHero(EmitContext& ctx, const Kernel& kernel) {
  ctx.SetSource(kernel.hero);
  switch (kernel.hero->opcode()) {
    case Opcode::kDot:
      return EmitDot(ctx, kernel);
    case Opcode::kConcatenate:
      return EmitConcatenate(ctx, kernel);
    case Opcode::kDynamicSlice:
      return EmitDynamicSlice(ctx, kernel);
    case Opcode::kDynamicUpdateSlice:
      return EmitDynamicUpdateSlice(ctx, kernel);
    case Opcode::kPad:
      return EmitPad(ctx, kernel);
    case Opcode::kReduce:
      return EmitWideReduce(ctx, kernel);
    default:
      return Unimplemented("compiler: no kernel for ", kernel.hero->name());
  }
}

}  // namespace neuron::compiler
