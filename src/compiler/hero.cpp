#include "compiler/hero.h"

namespace neuron::compiler {

using hlo::Opcode;

bool IsHero(const hlo::Instruction& x) {
  switch (x.opcode()) {
    default:
      return false;
  }
}

Status EmitHero(EmitContext& ctx, const Kernel& kernel) {
  ctx.SetSource(kernel.hero);
  switch (kernel.hero->opcode()) {
    default:
      return Unimplemented("compiler: no kernel for ", kernel.hero->name());
  }
}

}  // namespace neuron::compiler
