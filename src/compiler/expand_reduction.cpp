// Reductions of long rows are made from the operator's own initial value.
#include "compiler/expand.h"
#include "compiler/reduction.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Value;

bool IsLongFromAnywhere(const Instruction& x) {
  const auto op = ReductionAlu(x);
  if (!op) return false;
  int64_t row = 1;
  for (const int64_t d : x.attributes().dimensions)
    row *= x.operand(0)->shape().dims[static_cast<size_t>(d)];
  if (row <= kMostRow || !IdentityOf(*op, x.shape().dtype)) return false;
  const Instruction& init = *x.operand(1);
  return init.opcode() != hlo::Opcode::kConstant ||
         !IsIdentity(*op, x.shape().dtype, init.attributes().literal.AsDouble());
}

// The initial value is combined last, as in short rows.
Value CombineLast(hlo::Builder& b, const Instruction& x) {
  const double identity = *IdentityOf(*ReductionAlu(x), x.shape().dtype);
  const Value sum = b.Reduce(b.Of(x.operand(0)), b.Constant(x.shape().dtype, identity),
                             x.attributes().dimensions, x.called()[0]);
  return b.Binary(x.called()[0]->root()->opcode(), sum, b.Of(x.operand(1)));
}

constexpr Expansion kRows[] = {{hlo::Opcode::kReduce, IsLongFromAnywhere, CombineLast}};

}  // namespace

std::span<const Expansion> ReductionExpansions() { return kRows; }

}  // namespace neuron::compiler
