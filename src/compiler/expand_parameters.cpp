#include <algorithm>

#include "compiler/expand.h"

namespace neuron::compiler {
namespace {

using hlo::Attributes;
using hlo::Builder;
using hlo::Shape;
using hlo::Value;

// `shape` put together from parameters, of which `next` is the first number.
Value Assemble(Builder& b, const Shape& shape, int64_t& next) {
  if (!shape.is_tuple()) return b.Parameter(next++, shape);
  std::vector<Value> elements;
  for (const Shape& element : shape.elements) elements.push_back(Assemble(b, element, next));
  return b.Tuple(elements);
}

}  // namespace

bool HasTupleParameters(const hlo::Module& module) {
  const auto& instructions = module.entry()->instructions();
  return std::any_of(instructions.begin(), instructions.end(), [](const auto& x) {
    return x->opcode() == hlo::Opcode::kParameter && x->shape().is_tuple();
  });
}

void TakeParametersApart(hlo::Module& module) {
  hlo::Computation& entry = *module.entry();
  const std::vector<hlo::Instruction*> parameters = entry.Parameters();
  std::vector<int64_t> first;  // new number of each
  Builder b = Builder::Into(&entry);
  int64_t next = 0;
  for (hlo::Instruction* x : parameters) {
    first.push_back(next);
    const Value whole = Assemble(b, x->shape(), next);
    entry.ReplaceAllUses(x, whole.instruction());
    entry.RemoveParameter(x);
  }
  for (hlo::InputOutputAlias& alias : module.aliases())
    alias.parameter = first[static_cast<size_t>(alias.parameter)];
  entry.SortTopologically();
}

}  // namespace neuron::compiler
