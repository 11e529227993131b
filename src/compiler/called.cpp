#include "compiler/called.h"

namespace neuron::compiler {
namespace {

using hlo::Attributes;
using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

void Append(const Shape& shape, std::vector<Shape>& leaves) {
  if (!shape.is_tuple()) {
    leaves.push_back(shape);
    return;
  }
  for (const Shape& element : shape.elements) Append(element, leaves);
}

int NumLeaves(const Shape& shape) { return static_cast<int>(Leaves(shape).size()); }

int LeavesBefore(const Shape& tuple, int64_t element) {
  int n = 0;
  for (int64_t i = 0; i < element; ++i) n += NumLeaves(tuple.elements[static_cast<size_t>(i)]);
  return n;
}

struct ParameterLeaf {
  int64_t parameter = -1;  // -1: the value is computed
  int leaf = 0;
};

// The leaf of a parameter that leaf `leaf` of `x` is.
ParameterLeaf Origin(const Instruction* x, int leaf) {
  while (true) {
    switch (x->opcode()) {
      case Opcode::kParameter:
        return {x->attributes().parameter_number, leaf};
      case Opcode::kTuple: {
        int64_t element = 0;
        while (leaf >= NumLeaves(x->operand(element)->shape()))
          leaf -= NumLeaves(x->operand(element++)->shape());
        x = x->operand(element);
        break;
      }
      case Opcode::kGetTupleElement:
        leaf += LeavesBefore(x->operand(0)->shape(), x->attributes().tuple_index);
        x = x->operand(0);
        break;
      case Opcode::kCopy:
      case Opcode::kOptimizationBarrier:
        x = x->operand(0);
        break;
      case Opcode::kCall: {
        const ParameterLeaf inside = Origin(x->called()[0]->root(), leaf);
        if (inside.parameter < 0) return {};
        leaf = inside.leaf;
        x = x->operand(inside.parameter);
        break;
      }
      default:
        return {};
    }
  }
}

// `shape` put together from the values that follow in `leaves`.
Instruction* Assemble(Computation& entry, const Shape& shape, std::vector<Instruction*>& leaves,
                      size_t& next) {
  if (!shape.is_tuple()) return leaves[next++];
  std::vector<Instruction*> elements;
  for (const Shape& element : shape.elements)
    elements.push_back(Assemble(entry, element, leaves, next));
  return entry.Add(Opcode::kTuple, shape, std::move(elements));
}

void TakeApart(Computation& entry, Instruction* value, std::vector<Instruction*>& leaves) {
  if (!value->shape().is_tuple()) {
    leaves.push_back(value);
    return;
  }
  for (size_t i = 0; i < value->shape().elements.size(); ++i) {
    Attributes a;
    a.tuple_index = static_cast<int64_t>(i);
    TakeApart(
        entry,
        entry.Add(Opcode::kGetTupleElement, value->shape().elements[i], {value}, std::move(a)),
        leaves);
  }
}

}  // namespace

std::vector<Shape> Leaves(const Shape& shape) {
  std::vector<Shape> leaves;
  Append(shape, leaves);
  return leaves;
}

std::vector<int> ChangedLeaves(const Computation& body) {
  std::vector<int> changed;
  for (int leaf = 0; leaf < NumLeaves(body.root()->shape()); ++leaf) {
    const ParameterLeaf origin = Origin(body.root(), leaf);
    if (origin.parameter != 0 || origin.leaf != leaf) changed.push_back(leaf);
  }
  return changed;
}

hlo::Module Outline(const Computation& called, const std::vector<int>& results) {
  hlo::Module module(called.name());
  Computation& entry = *module.AddComputation("entry");
  module.set_entry(&entry);
  const Shape& argument = called.Parameters()[0]->shape();
  std::vector<Instruction*> parameters;
  for (const Shape& shape : Leaves(argument)) {
    Attributes a;
    a.parameter_number = static_cast<int64_t>(parameters.size());
    parameters.push_back(entry.Add(Opcode::kParameter, shape, {}, std::move(a)));
  }
  size_t next = 0;
  Instruction* whole = Assemble(entry, argument, parameters, next);
  Instruction* call = entry.Add(Opcode::kCall, called.root()->shape(), {whole}, {},
                                {const_cast<Computation*>(&called)});
  std::vector<Instruction*> leaves;
  TakeApart(entry, call, leaves);
  std::vector<Instruction*> kept;
  std::vector<Shape> shapes;
  for (const int leaf : results) {
    kept.push_back(leaves[static_cast<size_t>(leaf)]);
    shapes.push_back(kept.back()->shape());
  }
  entry.set_root(entry.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), std::move(kept)));
  return module;
}

}  // namespace neuron::compiler
