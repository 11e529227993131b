#include "compiler/wide_kernel.h"

namespace neuron::compiler {

Status EmitWideKernel(EmitContext&, const Kernel& kernel) {
  return Unimplemented("compiler: arithmetic on wide numbers, ", kernel.members[0]->name());
}

}  // namespace neuron::compiler
