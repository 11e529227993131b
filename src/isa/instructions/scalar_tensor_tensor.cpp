#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace scalar_tensor_tensor_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("data", kOnChip, kNumbers, "[P, N]"),
    Value("op0", OperandKind::kAlu, "first operator"),
    Scalar("operand0", "scalar or [P, 1]; 0 for a unary operator"),
    Value("op1", OperandKind::kAlu, "second operator, binary"),
    In("operand1", kOnChip, kNumbers, "[P, N]; not in PSUM together with data"),
    Optional(Value("reverse0", OperandKind::kFlag, "1: operand0 op0 data")),
    Optional(Value("reverse1", OperandKind::kFlag, "1: operand1 op1 intermediate")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSameShape(instruction, "scalar_tensor_tensor.shape", {kDst, kData, kOperand1}));
  NEURON_RETURN_IF_ERROR(
      CheckPerPartitionScalar(instruction, "scalar_tensor_tensor.operand", kOperand0, kData));
  NEURON_RETURN_IF_ERROR(
      CheckNotBothPsum(instruction, "scalar_tensor_tensor.psum", kData, kOperand1));
  const AluRow& op1 = RowOf(std::get<AluOp>(instruction.operands[kOp1]));
  if (op1.arity != 2)
    return InvalidArgument("scalar_tensor_tensor.alu: op1 ", op1.name, " is unary");
  return CheckAlu(instruction, "scalar_tensor_tensor.alu", {kOp0, kOp1});
}

double Cost(const CostInput& input) {
  return EngineCycles(input, TwoInputCycles(input, kDst, kData, kOperand1));
}

}  // namespace

constinit const InstructionDef kDef_scalar_tensor_tensor{
    .mnemonic = "scalar_tensor_tensor",
    .summary = "Apply a scalar operator, then combine with a second tile.",
    .doc =
        "dst = (data op0 operand0) op1 operand1: operand0 a scalar or one value per "
        "partition, operand1 a tile. reverse0 and reverse1 swap the sides of their operator.",
    .engines = Bit(Engine::kVector) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + 2 N; 144 + N with 16-bit tiles or an input in PSUM",
    .source = "NKI 0.6 reference, nki.isa.scalar_tensor_tensor",
};

}  // namespace neuron::isa
