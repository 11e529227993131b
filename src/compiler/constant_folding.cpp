#include "compiler/constant_folding.h"

#include <algorithm>

namespace neuron::compiler {

using hlo::Attributes;
using hlo::Instruction;
using hlo::Opcode;

std::optional<bool> KnownPredicate(const Instruction& predicate) {
  const Instruction* x = &predicate;
  while (x->opcode() == Opcode::kBroadcast || x->opcode() == Opcode::kReshape) x = x->operand(0);
  if (x->opcode() != Opcode::kConstant || !x->attributes().literal.IsSplat() ||
      x->shape().num_elements() == 0)
    return std::nullopt;
  return x->attributes().literal.AsInt64() != 0;
}

Instruction* FoldConvert(CanonicalBuilder& b, const Instruction& x, const Instruction& constant) {
  const hlo::Literal& literal = constant.attributes().literal;
  if (!literal.IsSplat() || !literal.shape().is_scalar()) return nullptr;
  if (IsComplex(literal.shape().dtype) || IsComplex(x.shape().dtype)) return nullptr;
  Attributes a;
  const DType from = literal.shape().dtype;
  const DType to = x.shape().dtype;
  if (IsFloating(from) && !IsFloating(to)) {
    if (to == DType::kPred) {
      a.literal = hlo::Literal::Scalar(to, static_cast<int64_t>(literal.AsDouble() != 0));
    } else {
      return nullptr;
    }
  } else if (IsFloating(from)) {
    a.literal = hlo::Literal::Scalar(to, literal.AsDouble());
  } else if (IsFloating(to)) {
    constexpr int64_t kExact = int64_t{1} << 53;  // then only the last step rounds
    const int64_t v = literal.AsInt64();
    if (v < -kExact || v > kExact) return nullptr;
    a.literal = hlo::Literal::Scalar(to, static_cast<double>(v));
  } else {
    const int64_t v = literal.AsInt64();
    a.literal = hlo::Literal::Scalar(to, to == DType::kPred ? static_cast<int64_t>(v != 0) : v);
  }
  return b.Emit(Opcode::kConstant, x.shape(), {}, std::move(a));
}

Instruction* StaticSlice(CanonicalBuilder& b, const Instruction& x,
                         const std::vector<Instruction*>& operands) {
  Attributes a;
  for (size_t d = 0; d < x.shape().dims.size(); ++d) {
    const Instruction* start = operands[d + 1];
    if (start->opcode() != Opcode::kConstant) return nullptr;
    const int64_t at = std::clamp<int64_t>(start->attributes().literal.AsInt64(), 0,
                                           operands[0]->shape().dims[d] - x.shape().dims[d]);
    a.slice_starts.push_back(at);
    a.slice_limits.push_back(at + x.shape().dims[d]);
    a.slice_strides.push_back(1);
  }
  return b.Emit(Opcode::kSlice, x.shape(), {operands[0]}, std::move(a));
}

}  // namespace neuron::compiler
