#include "compiler/live_columns.h"

#include <cmath>
#include <set>
#include <unordered_map>

#include "compiler/kernel_domain.h"
#include "compiler/reduction.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// row * r + column * c + constant
struct Index {
  int64_t row = 0, column = 0, constant = 0;
};

class Diagonals {
 public:
  Diagonals(const Plan& plan, const ChainProblem& problem) : plan_(plan), problem_(problem) {}

  std::optional<int64_t> Run() {
    for (const Instruction* x : problem_.body.results)
      if (IsFull(*x)) return std::nullopt;
    std::set<int64_t> candidates;
    for (const Instruction* x : problem_.body.members)
      if (const auto known = Comparison(*x)) candidates.insert(known->diagonal);
    for (int64_t diagonal : candidates)  // the smallest that serves
      if (Holds(diagonal)) return diagonal;
    return std::nullopt;
  }

 private:
  struct Known {
    int64_t diagonal;
    bool value;  // of the comparison beyond it
  };
  using Value = std::optional<double>;  // of a member's elements beyond the diagonal, if known

  bool IsFull(const Instruction& x) const {
    return x.shape().num_elements() == Product(problem_.body.domain);
  }

  std::optional<Index> IndexOf(const Instruction* operand) const {
    const View& view = plan_.ViewOf(operand);
    if (view.base->opcode() != Opcode::kIota) return std::nullopt;
    const auto steps = OperandStrides(view, problem_.body);
    if (!steps) return std::nullopt;
    for (int d = 0; d < problem_.row(); ++d)
      if ((*steps)[static_cast<size_t>(d)] != 0) return std::nullopt;
    return Index{(*steps)[static_cast<size_t>(problem_.row())], steps->back(), view.offset};
  }

  // A comparison that is decided for all columns beyond a diagonal.
  std::optional<Known> Comparison(const Instruction& x) const {
    if (x.opcode() != Opcode::kCompare) return std::nullopt;
    const auto a = IndexOf(x.operand(0)), b = IndexOf(x.operand(1));
    if (!a || !b) return std::nullopt;
    const Index d{a->row - b->row, a->column - b->column, a->constant - b->constant};
    const bool rising = d.column == 1 && d.row == -1;  // d = c - r + constant
    if (!rising && !(d.column == -1 && d.row == 1)) return std::nullopt;
    // Beyond diagonal -constant, d > 0 (rising); one further on, d >= 0 holds, too.
    const int64_t zero = rising ? -d.constant : d.constant;  // c - r where d is 0
    switch (x.attributes().comparison) {
      case hlo::Comparison::kGt:
        return rising ? Known{zero, true} : Known{zero - 1, false};
      case hlo::Comparison::kGe:
        return rising ? Known{zero - 1, true} : Known{zero, false};
      case hlo::Comparison::kLt:
        return rising ? Known{zero - 1, false} : Known{zero, true};
      case hlo::Comparison::kLe:
        return rising ? Known{zero, false} : Known{zero - 1, true};
      default:
        return std::nullopt;
    }
  }

  Value ValueOf(const Instruction* operand) const {
    const Instruction* base = plan_.ViewOf(operand).base;
    if (base->opcode() == Opcode::kConstant && base->attributes().literal.IsSplat())
      return base->attributes().literal.AsDouble(0);
    const auto it = values_.find(base);
    return it == values_.end() ? std::nullopt : it->second;
  }

  Value Evaluate(const Instruction& x, int64_t diagonal) const {
    if (const auto known = Comparison(x))
      return known->diagonal <= diagonal ? Value(known->value ? 1 : 0) : std::nullopt;
    std::vector<Value> v;
    for (const Instruction* operand : x.operands()) v.push_back(ValueOf(operand));
    const auto is = [&](size_t i, double value) { return v[i] && *v[i] == value; };
    const auto infinite = [&](size_t i) { return v[i] && std::isinf(*v[i]); };
    switch (x.opcode()) {
      case Opcode::kConvert:
      case Opcode::kCopy:
      case Opcode::kReshape:
        return v[0];
      case Opcode::kNegate:
        return v[0] ? Value(-*v[0]) : std::nullopt;
      case Opcode::kExp:
        return v[0] ? Value(std::exp(*v[0])) : std::nullopt;
      case Opcode::kNot:
        return x.shape().dtype == DType::kPred && v[0] ? Value(1 - *v[0]) : std::nullopt;
      case Opcode::kSelect:
        if (v[0]) return *v[0] != 0 ? v[1] : v[2];
        return v[1] && v[2] && *v[1] == *v[2] ? v[1] : std::nullopt;
      case Opcode::kAdd:  // an infinity stays what it is beside what is finite
        return infinite(0) ? v[0] : infinite(1) ? v[1] : std::nullopt;
      case Opcode::kSubtract:
        return infinite(0) ? v[0] : std::nullopt;
      case Opcode::kMultiply:
      case Opcode::kAnd:
        return is(0, 0) || is(1, 0) ? Value(0) : std::nullopt;
      case Opcode::kOr:
        if (x.shape().dtype != DType::kPred) return std::nullopt;
        return is(0, 1) || is(1, 1) ? Value(1) : std::nullopt;
      case Opcode::kDivide:
        return is(0, 0) ? Value(0) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  // True if the columns beyond the diagonal are dead.
  bool Holds(int64_t diagonal) {
    values_.clear();
    for (const Instruction* x : problem_.body.members) {
      if (x->opcode() == Opcode::kReduce) {
        const auto alu = ReductionAlu(*x);
        const Value value = ValueOf(x->operand(0));
        if (!alu || !value || !IsIdentity(*alu, x->shape().dtype, *value)) return false;
      } else if (x->opcode() != Opcode::kDot && IsFull(*x)) {
        values_[x] = Evaluate(*x, diagonal);
      }
    }
    for (const ChainConsumer& consumer : problem_.consumers) {
      const auto it = values_.find(consumer.taken);
      if (it == values_.end() || it->second != 0.0) return false;
    }
    return true;
  }

  const Plan& plan_;
  const ChainProblem& problem_;
  std::unordered_map<const Instruction*, Value> values_;
};

}  // namespace

std::optional<int64_t> LiveDiagonal(const Plan& plan, const ChainProblem& problem) {
  return Diagonals(plan, problem).Run();
}

}  // namespace neuron::compiler
