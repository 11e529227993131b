#include <algorithm>
#include <sstream>

#include "compiler/kernel_plan.h"

namespace neuron::compiler {

using hlo::Instruction;

std::string ToText(const Plan& plan) {
  std::ostringstream out;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel& kernel = plan.kernels[k];
    if (kernel.members.empty()) continue;
    out << "kernel " << k
        << (kernel.kind == KernelKind::kLoop    ? " loop"
            : kernel.kind == KernelKind::kWide  ? " wide"
            : kernel.kind == KernelKind::kChain ? " chain"
                                                : " hero")
        << " [";
    for (size_t d = 0; d < kernel.domain.size(); ++d)
      out << (d ? "," : "") << kernel.domain[d] << (kernel.reduced[d] ? "r" : "");
    out << "]\n";
    for (const Instruction* x : kernel.members) {
      out << "  " << x->name() << " = " << x->shape().ToString() << " "
          << hlo::OpcodeName(x->opcode()) << "(";
      for (size_t i = 0; i < x->operands().size(); ++i)
        out << (i ? ", " : "") << x->operand(static_cast<int64_t>(i))->name();
      const bool stored =
          std::find(kernel.results.begin(), kernel.results.end(), x) != kernel.results.end();
      out << ")" << (stored ? " -> HBM" : "") << "\n";
    }
  }
  for (const Spill& spill : plan.spills) {
    out << "spill at " << spill.at->name() << ": tiles take " << spill.bytes_needed
        << " bytes of a "
        << "partition where there are " << spill.bytes_there << "; to HBM and back:";
    for (const Instruction* value : spill.values)
      out << " " << value->name() << " " << value->shape().ToString();
    out << "\n";
  }
  return std::move(out).str();
}

}  // namespace neuron::compiler
