#include "compiler/reduction.h"

#include <cmath>
#include <limits>

namespace neuron::compiler {

using hlo::Opcode;
using isa::AluOp;

std::optional<AluOp> ReductionAlu(const hlo::Instruction& reduce) {
  if (!reduce.shape().is_array() || IsWide(reduce.shape().dtype)) return std::nullopt;
  const hlo::Computation* combiner = reduce.called()[0];
  const hlo::Instruction* root = combiner->root();
  if (root->operands().size() != 2) return std::nullopt;
  for (const hlo::Instruction* operand : root->operands())
    if (operand->opcode() != Opcode::kParameter) return std::nullopt;
  if (root->operand(0) == root->operand(1)) return std::nullopt;
  const bool pred = reduce.shape().dtype == DType::kPred;
  switch (root->opcode()) {
    case Opcode::kAdd:
      return pred ? AluOp::kMaximum : AluOp::kAdd;
    case Opcode::kMultiply:
      return pred ? AluOp::kMinimum : AluOp::kMultiply;
    case Opcode::kMaximum:
      return AluOp::kMaximum;
    case Opcode::kMinimum:
      return AluOp::kMinimum;
    case Opcode::kAnd:
      return pred ? AluOp::kMinimum : AluOp::kBitwiseAnd;
    case Opcode::kOr:
      return pred ? AluOp::kMaximum : AluOp::kBitwiseOr;
    case Opcode::kXor:
      return AluOp::kBitwiseXor;
    default:
      return std::nullopt;
  }
}

namespace {
double Lowest(DType dtype) {
  if (IsFloating(dtype)) return -std::numeric_limits<double>::infinity();
  if (!IsSigned(dtype)) return 0;
  return -std::ldexp(1.0, static_cast<int>(8 * ByteSize(dtype)) - 1);
}
double Highest(DType dtype) {
  if (IsFloating(dtype)) return std::numeric_limits<double>::infinity();
  if (dtype == DType::kPred) return 1;
  return std::ldexp(1.0, static_cast<int>(8 * ByteSize(dtype)) - (IsSigned(dtype) ? 1 : 0)) - 1;
}
}  // namespace

std::optional<double> IdentityOf(AluOp op, DType dtype) {
  switch (op) {
    case AluOp::kAdd:
    case AluOp::kBitwiseOr:
    case AluOp::kBitwiseXor:
      return 0;
    case AluOp::kMultiply:
      return 1;
    case AluOp::kMaximum:
      return Lowest(dtype);
    case AluOp::kMinimum:
      return Highest(dtype);
    case AluOp::kBitwiseAnd:
      return IsSigned(dtype) ? -1 : Highest(dtype);
    default:
      return std::nullopt;
  }
}

bool IsIdentity(AluOp op, DType dtype, double value) {
  const std::optional<double> identity = IdentityOf(op, dtype);
  return identity && value == *identity;
}

}  // namespace neuron::compiler
