// Collectives of one replica, which hand their operands on.
//
// Groups that name no replicas are all of a program that runs alone (as partition-id is 0): one.
#include <algorithm>

#include "compiler/expand.h"
#include "hlo/collective.h"

namespace neuron::compiler {
namespace {

using hlo::Builder;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Value;

bool IsPermute(const Instruction& x) { return hlo::IsCollectivePermute(x.opcode()); }

bool IsAlone(const Instruction& x) {
  const auto& groups = x.attributes().groups;
  return std::all_of(groups.begin(), groups.end(), [&](const std::vector<int64_t>& group) {
    return IsPermute(x) ? group == std::vector<int64_t>{0, 0} : group.size() == 1;
  });
}

bool KeepsShapes(const Instruction& x) {
  if (!IsAlone(x)) return false;
  const hlo::Shape& all = x.shape();
  for (size_t i = 0; i < x.operands().size(); ++i)
    if ((all.is_tuple() ? all.elements[i] : all) != x.operands()[i]->shape()) return false;
  return true;
}

bool Always(const Instruction&) { return true; }

// A replica that nobody sends to receives zeros.
Value Received(Builder& b, const Instruction& x, int64_t operand) {
  const Value value = b.Of(x.operand(operand));
  return IsPermute(x) && x.attributes().groups.empty() ? b.ZerosLike(value) : value;
}

Value Operands(Builder& b, const Instruction& x) {
  if (!x.shape().is_tuple()) return Received(b, x, 0);
  std::vector<Value> values;
  for (size_t i = 0; i < x.operands().size(); ++i)
    values.push_back(Received(b, x, static_cast<int64_t>(i)));
  return b.Tuple(values);
}

// (operand, result, what the scheduler put there)
Value Started(Builder& b, const Instruction& x) {
  std::vector<Value> operands, results;
  for (size_t i = 0; i < x.operands().size(); ++i) {
    operands.push_back(b.Of(x.operands()[i]));
    results.push_back(Received(b, x, static_cast<int64_t>(i)));
  }
  const bool one = operands.size() == 1;
  std::vector<Value> all = {one ? operands[0] : b.Tuple(operands),
                            one ? results[0] : b.Tuple(results)};
  for (size_t i = 2; i < x.shape().elements.size(); ++i)
    all.push_back(b.Full(x.shape().elements[i], 0));
  return b.Tuple(all);
}

Value TheOperand(Builder& b, const Instruction& x) { return b.Of(x.operand(0)); }
Value TheResult(Builder& b, const Instruction& x) {
  return b.GetTupleElement(b.Of(x.operand(0)), 1);
}

constexpr Expansion kRows[] = {{Opcode::kAllGather, KeepsShapes, Operands},
                               {Opcode::kAllGatherStart, IsAlone, Started},
                               {Opcode::kAllGatherDone, Always, TheResult},
                               {Opcode::kAllReduce, KeepsShapes, Operands},
                               {Opcode::kAllReduceStart, KeepsShapes, Operands},
                               {Opcode::kAllReduceDone, Always, TheOperand},
                               {Opcode::kAllToAll, KeepsShapes, Operands},
                               {Opcode::kCollectiveBroadcast, KeepsShapes, Operands},
                               {Opcode::kCollectivePermute, IsAlone, Operands},
                               {Opcode::kCollectivePermuteStart, IsAlone, Started},
                               {Opcode::kCollectivePermuteDone, Always, TheResult},
                               {Opcode::kReduceScatter, KeepsShapes, Operands}};

}  // namespace

std::span<const Expansion> CollectiveExpansions() { return kRows; }

}  // namespace neuron::compiler
