#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_scalar_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("data", kOnChip, kNumbers, "[P, N]"),
    Value("op0", OperandKind::kAlu, "first operator"),
    Scalar("operand0", "scalar or [P, 1]; 0 for a unary operator"),
    Optional(Value("reverse0", OperandKind::kFlag, "1: operand0 op0 data")),
    Optional(Value("op1", OperandKind::kAlu, "second operator")),
    Optional(Scalar("operand1", "scalar or [P, 1]")),
    Optional(Value("reverse1", OperandKind::kFlag, "1: operand1 op1 intermediate")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "tensor_scalar.shape", {kDst, kData}));
  for (const size_t operand : {size_t{kOperand0}, size_t{kOperand1}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "tensor_scalar.operand", operand, kData));
  NEURON_RETURN_IF_ERROR(CheckAlu(instruction, "tensor_scalar.alu", {kOp0, kOp1}));
  const AluRow& first = RowOf(std::get<AluOp>(instruction.operands[kOp0]));
  const auto* operand0 = std::get_if<double>(&OperandAt(instruction, kOperand0));
  if (first.arity == 1 && (operand0 == nullptr || *operand0 != 0))
    return InvalidArgument("tensor_scalar.operand: op0 ", first.name,
                           " is unary; operand0 is 0 (or None) then");
  const auto* op1 = std::get_if<AluOp>(&OperandAt(instruction, kOp1));
  if (op1 != nullptr && RowOf(*op1).arity == 2 &&
      std::holds_alternative<std::monostate>(OperandAt(instruction, kOperand1)))
    return InvalidArgument("tensor_scalar.operand: op1 ", RowOf(*op1).name, " needs operand1");
  if (instruction.engine == Engine::kScalar && target == Target::kTrn2) {
    const AluOp op0 = std::get<AluOp>(instruction.operands[kOp0]);
    const bool legal = (op0 == AluOp::kMultiply && (op1 == nullptr || *op1 == AluOp::kAdd)) ||
                       (op0 == AluOp::kAdd && op1 == nullptr);
    if (!legal)
      return InvalidArgument(
          "tensor_scalar.engine: scalar on trn2 takes multiply and add, "
          "multiply, or add; use vector");
  }
  return OkStatus();
}

double Cost(const CostInput& input) {
  return EngineCycles(input, OneInputCycles(input, kDst, kData));
}

}  // namespace

constinit const InstructionDef kDef_tensor_scalar{
    .mnemonic = "tensor_scalar",
    .summary = "Apply one or two operators with scalars to each element.",
    .doc =
        "dst = (data op0 operand0) op1 operand1. An operand is an immediate, a register or "
        "one value per partition; reverse0 computes operand0 op0 data, reverse1 operand1 op1 "
        "(...). A unary operator ignores its operand. Without op1 the second step is left "
        "out.",
    .engines = Bit(Engine::kVector) | Bit(Engine::kScalar) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc =
        "144 + max(64, N), N / 2 or N / 4 by performance mode; Scalar max(64, N); GpSimd 150 + N",
    .source = "NKI 0.6 reference, nki.isa.tensor_scalar",
};

}  // namespace neuron::isa
