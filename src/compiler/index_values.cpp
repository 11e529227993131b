#include "compiler/index_values.h"

#include "compiler/elementwise.h"
#include "compiler/wide.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

constexpr int kMostInstructions = 4;

bool IsLeaf(const Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kIota:
      return true;
    case Opcode::kConstant:
      return x.attributes().literal.IsSplat();
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return IsLeaf(*x.operand(0));
    default:
      return false;
  }
}

// Elementwise instructions of the expression; more than kMostInstructions if it is none.
int Instructions(const Instruction& x) {
  if (IsLeaf(x)) return 0;
  if (!hlo::IsElementwise(x.opcode()) || !IsEmittable(x) || IsWide(x.shape().dtype))
    return kMostInstructions + 1;
  int count = 1;
  for (const Instruction* operand : x.operands()) {
    if (IsWide(operand->shape().dtype)) return kMostInstructions + 1;
    count += Instructions(*operand);
    if (count > kMostInstructions) break;
  }
  return count;
}

}  // namespace

bool IsIndexValue(const Instruction& x) {
  if (x.shape().num_elements() == 1 || x.operands().empty()) return false;
  const int count = Instructions(x);
  return count > 0 && count <= kMostInstructions;
}

}  // namespace neuron::compiler
