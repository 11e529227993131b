#include "compiler/column_sum.h"

#include "compiler/reduction.h"

namespace neuron::compiler {

using hlo::Attributes;
using hlo::Instruction;
using hlo::Opcode;

bool IsColumnSum(const Instruction& x, const Instruction& init) {
  constexpr int64_t kLeastRows = 64, kLeastColumns = 16;
  const std::vector<int64_t>& reduced = x.attributes().dimensions;
  for (size_t i = 0; i < reduced.size(); ++i)
    if (reduced[i] != static_cast<int64_t>(i)) return false;
  const int64_t columns = x.shape().num_elements();
  return x.shape().dtype == DType::kF32 && ReductionAlu(x) == isa::AluOp::kAdd &&
         init.opcode() == Opcode::kConstant && init.attributes().literal.AsDouble() == 0 &&
         columns >= kLeastColumns && x.operand(0)->shape().num_elements() >= kLeastRows * columns;
}

Instruction* ColumnSum(CanonicalBuilder& b, const Instruction& x, Instruction* operand) {
  // Products with one are exact: a narrow float needs no conversion before.
  if (operand->opcode() == Opcode::kConvert && IsFloating(operand->operand(0)->shape().dtype) &&
      ByteSize(operand->operand(0)->shape().dtype) == 2)
    operand = operand->operand(0);
  const hlo::Shape& shape = operand->shape();
  Attributes one;
  one.literal = hlo::Literal::Scalar(shape.dtype, 1.0);
  Instruction* number = b.Emit(Opcode::kConstant, one.literal.shape(), {}, one);
  Attributes dot;
  hlo::Shape ones = hlo::Shape::Array(shape.dtype, {});
  for (size_t d = 0; d < x.attributes().dimensions.size(); ++d) {
    ones.dims.push_back(shape.dims[d]);
    dot.dot.lhs_contracting.push_back(static_cast<int64_t>(d));
  }
  dot.dot.rhs_contracting = dot.dot.lhs_contracting;
  return b.Emit(Opcode::kDot, x.shape(), {b.Emit(Opcode::kBroadcast, ones, {number}), operand},
                std::move(dot));
}

}  // namespace neuron::compiler
