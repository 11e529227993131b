#include "compiler/hero.h"

#include "compiler/dot.h"

namespace neuron::compiler {

using hlo::Opcode;

bool IsHero(const hlo::Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kDot:
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
    default:
      return Unimplemented("compiler: no kernel for ", kernel.hero->name());
  }
}

}  // namespace neuron::compiler
