#include "compiler/canonicalise.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/called.h"
#include "compiler/canonical_builder.h"
#include "compiler/recognise.h"
#include "compiler/simplify.h"
#include "compiler/stored_value.h"

namespace neuron::compiler {
namespace {

using hlo::Attributes;
using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

bool IsElementwise(const Instruction& x) {
  return hlo::IsElementwise(x.opcode()) || ActivationOf(x).has_value();
}

class Canonicaliser {
 public:
  Canonicaliser(const hlo::Module& module, bool relaxed)
      : module_(module),
        relaxed_(relaxed),
        out_(module.name()),
        entry_(out_.AddComputation("main")),
        builder_(*entry_) {
    out_.set_entry(entry_);
  }

  StatusOr<CanonicalModule> Run() {
    const Computation& from = *module_.entry();
    for (Instruction* p : from.Parameters()) {
      Instruction* copy =
          entry_->Add(Opcode::kParameter, p->shape(), {}, p->attributes(), {}, p->name());
      parameters_.push_back(copy);
      values_[p] = {copy};
    }
    NEURON_RETURN_IF_ERROR(Walk(from));
    std::vector<Instruction*> roots = values_.at(from.root());
    std::vector<Shape> shapes;
    std::unordered_set<const Instruction*> seen;
    CanonicalModule canonical{.module = hlo::Module(""), .stores = {}};
    for (size_t j = 0; j < roots.size(); ++j) {
      Instruction* aliased = nullptr;
      for (const hlo::InputOutputAlias& alias : module_.aliases())
        if (alias.output == static_cast<int64_t>(j) && alias.parameter >= 0 &&
            alias.parameter < static_cast<int64_t>(parameters_.size()))
          aliased = parameters_[static_cast<size_t>(alias.parameter)];
      View place = View::Of(roots[j]);
      Instruction* value = StoredValue(roots[j], aliased, place);
      const bool dense = value->shape() == roots[j]->shape() && place == View::Of(roots[j]);
      // One writer per result; heroes write densely.
      if (!OwnsBuffer(*value) || !seen.insert(value).second ||
          (!dense && (!IsElementwise(*value) || IsReadBeside(roots, j, *value)))) {
        value = entry_->Add(Opcode::kCopy, value->shape(), {value});
        seen.insert(value);
      }
      if (!dense) {
        place.base = aliased != nullptr ? aliased : value;
        canonical.stores[value] = place;
      }
      roots[j] = value;
      shapes.push_back(value->shape());
    }
    if (from.root()->shape().is_tuple())
      entry_->set_root(entry_->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), roots));
    else
      entry_->set_root(roots.at(0));
    out_.aliases() = module_.aliases();
    canonical.module = std::move(out_);
    return canonical;
  }

 private:
  // True if somebody else reads the value under result j, or a view between: he would look for it
  // where it lies by itself, and not where the result has it.
  static bool IsReadBeside(const std::vector<Instruction*>& roots, size_t j,
                           const Instruction& value) {
    if (!roots[j]->users().empty()) return true;
    for (const Instruction* x = roots[j]; x != &value;) {
      x = x->operand(x->opcode() == Opcode::kDynamicUpdateSlice ? 1 : 0);
      if (x->users().size() > 1) return true;
      if (std::find(roots.begin(), roots.end(), x) != roots.end()) return true;
    }
    return std::count(roots.begin(), roots.end(), roots[j]) > 1;
  }

  // The instructions that the root of `from` needs, in order. Every value becomes a list: the
  // leaves of its shape.
  Status Walk(const Computation& from) {
    std::unordered_set<const Instruction*> live = {from.root()};
    for (auto it = from.instructions().rbegin(); it != from.instructions().rend(); ++it)
      if (live.contains(it->get()))
        for (const Instruction* operand : (*it)->operands()) live.insert(operand);
    for (const auto& x : from.instructions())
      if (live.contains(x.get()) && x->opcode() != Opcode::kParameter)
        NEURON_RETURN_IF_ERROR(Rewrite(*x));
    return OkStatus();
  }

  Status Rewrite(const Instruction& x) {
    switch (x.opcode()) {
      case Opcode::kTuple: {
        std::vector<Instruction*> leaves;
        for (const Instruction* operand : x.operands()) {
          const auto& more = values_.at(operand);
          leaves.insert(leaves.end(), more.begin(), more.end());
        }
        values_[&x] = std::move(leaves);
        return OkStatus();
      }
      case Opcode::kGetTupleElement: {
        const auto& leaves = values_.at(x.operand(0));
        size_t begin = 0;
        const auto& elements = x.operand(0)->shape().elements;
        for (int64_t i = 0; i < x.attributes().tuple_index; ++i)
          begin += Leaves(elements[static_cast<size_t>(i)]).size();
        const size_t n = Leaves(x.shape()).size();
        values_[&x] = {leaves.begin() + static_cast<int64_t>(begin),
                       leaves.begin() + static_cast<int64_t>(begin + n)};
        return OkStatus();
      }
      case Opcode::kCall:
      case Opcode::kFusion: {
        const Computation& callee = *x.called()[0];
        const auto parameters = callee.Parameters();
        for (size_t i = 0; i < parameters.size(); ++i)
          values_[parameters[i]] = values_.at(x.operand(static_cast<int64_t>(i)));
        NEURON_RETURN_IF_ERROR(Walk(callee));
        values_[&x] = values_.at(callee.root());
        return OkStatus();
      }
      case Opcode::kOptimizationBarrier:
        values_[&x] = values_.at(x.operand(0));
        return OkStatus();
      case Opcode::kMap:
        return Map(x);
      default:
        break;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : x.operands()) {
      const auto& leaves = values_.at(operand);
      operands.insert(operands.end(), leaves.begin(), leaves.end());
    }
    builder_.SetMetadata(x.metadata());
    if (x.opcode() == Opcode::kWhile) {
      values_[&x] = Loop(x, std::move(operands));
      return OkStatus();
    }
    if (x.opcode() == Opcode::kConditional) {
      values_[&x] = Elements(x, Shape::Tuple(Leaves(x.shape())), std::move(operands));
      return OkStatus();
    }
    if (x.shape().is_array()) {
      values_[&x] = {Simplify(builder_, x, operands, relaxed_)};
      return OkStatus();
    }
    if (x.opcode() == Opcode::kRngBitGenerator && x.shape().elements[1].num_elements() == 0) {
      values_[&x] = {operands[0],
                     builder_.Zeros(x.shape().elements[1])};  // nothing is drawn: the state stays
      return OkStatus();
    }
    values_[&x] = Elements(x, x.shape(), std::move(operands));
    return OkStatus();
  }

  // A function of numbers at each place: its instructions on the whole arrays.
  Status Map(const Instruction& x) {
    const Computation& function = *x.called()[0];
    const auto parameters = function.Parameters();
    for (size_t i = 0; i < parameters.size(); ++i)
      values_[parameters[i]] = values_.at(x.operand(static_cast<int64_t>(i)));
    builder_.SetMetadata(x.metadata());
    for (const auto& inner : function.instructions()) {
      if (inner->opcode() == Opcode::kParameter) continue;
      const Shape whole = Shape::Array(inner->shape().dtype, x.shape().dims);
      if (inner->opcode() == Opcode::kConstant) {
        Instruction* number =
            builder_.Emit(Opcode::kConstant, inner->shape(), {}, inner->attributes());
        values_[inner.get()] = {
            whole.is_scalar() ? number : builder_.Emit(Opcode::kBroadcast, whole, {number})};
        continue;
      }
      if (!inner->shape().is_scalar() || !hlo::IsElementwise(inner->opcode()))
        return Unimplemented("compiler: ", x.name(), " maps ", hlo::OpcodeName(inner->opcode()),
                             ", which is not elementwise");
      std::vector<Instruction*> operands;
      for (const Instruction* operand : inner->operands())
        operands.push_back(values_.at(operand)[0]);
      values_[inner.get()] = {
          builder_.Emit(inner->opcode(), whole, std::move(operands), inner->attributes())};
    }
    values_[&x] = values_.at(function.root());
    return OkStatus();
  }

  // An instruction with several results: one element each.
  std::vector<Instruction*> Elements(const Instruction& x, const Shape& tuple,
                                     std::vector<Instruction*> operands) {
    for (Instruction*& operand : operands) operand = builder_.Placed(operand);
    Instruction* all =
        builder_.Emit(x.opcode(), tuple, std::move(operands), x.attributes(), x.called());
    std::vector<Instruction*> elements;
    for (size_t i = 0; i < tuple.elements.size(); ++i) {
      Attributes a;
      a.tuple_index = static_cast<int64_t>(i);
      elements.push_back(
          builder_.Emit(Opcode::kGetTupleElement, tuple.elements[i], {all}, std::move(a)));
    }
    return elements;
  }

  // The results of a loop are the leaves of its state that its body changes.
  std::vector<Instruction*> Loop(const Instruction& x, std::vector<Instruction*> state) {
    const std::vector<int> changed = ChangedLeaves(*x.called()[1]);
    if (changed.empty()) return state;
    std::vector<Shape> shapes;
    for (const int leaf : changed) shapes.push_back(state[static_cast<size_t>(leaf)]->shape());
    const auto results = Elements(x, Shape::Tuple(std::move(shapes)), state);
    for (size_t i = 0; i < changed.size(); ++i) state[static_cast<size_t>(changed[i])] = results[i];
    return state;
  }

  const hlo::Module& module_;
  const bool relaxed_;
  hlo::Module out_;
  Computation* const entry_;
  CanonicalBuilder builder_;
  std::vector<Instruction*> parameters_;  // by number
  std::unordered_map<const Instruction*, std::vector<Instruction*>> values_;
};

}  // namespace

StatusOr<CanonicalModule> Canonicalise(const hlo::Module& module, bool relaxed) {
  return Canonicaliser(module, relaxed).Run();
}

}  // namespace neuron::compiler
