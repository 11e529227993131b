#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace activate2_operands;

constexpr std::pair<AluOp, AluOp> kPairs[] = {
    {AluOp::kMultiply, AluOp::kAdd},    {AluOp::kMultiply, AluOp::kSubtract},
    {AluOp::kMultiply, AluOp::kBypass}, {AluOp::kAdd, AluOp::kBypass},
    {AluOp::kSubtract, AluOp::kBypass}, {AluOp::kBypass, AluOp::kBypass}};

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    Value("op", OperandKind::kActivation, "function"),
    In("data", kOnChip, kNumbers, "[P, N]"),
    Scalar("imm0", "scalar or [P, 1]"),
    Scalar("imm1", "scalar or [P, 1], of imm0's dtype"),
    Value("op0", OperandKind::kAlu, "multiply, add, subtract or bypass"),
    Value("op1", OperandKind::kAlu, "add or subtract after multiply, else bypass"),
    Optional(Scalar("relu_param", "scalar or [P, 1]; 0 if absent")),
    Optional(Value("reverse0", OperandKind::kFlag, "1: imm0 op0 data")),
    Optional(Value("reverse1", OperandKind::kFlag, "1: imm1 op1 (...)")),
    Optional(Value("reduce_op", OperandKind::kAlu, "add, maximum, minimum, abs_max or abs_min")),
    Optional(Out("reduce_res", kOnChip, kFloats, "[P, 1], the accumulator after this instruction")),
    Optional(Value("reduce_cmd", OperandKind::kInteger, "0 idle if absent")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "activate2.shape", {kDst, kData}));
  for (const size_t operand :
       {size_t{kImm0}, size_t{kImm1}, size_t{kReluParam}, size_t{kReduceRes}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "activate2.operand", operand, kData));
  const auto* imm0 = std::get_if<AccessPattern>(&instruction.operands[kImm0]);
  const auto* imm1 = std::get_if<AccessPattern>(&instruction.operands[kImm1]);
  if (imm0 != nullptr && imm1 != nullptr)
    NEURON_RETURN_IF_ERROR(CheckSameDType(instruction, "activate2.operand", kImm0, kImm1));
  const AluOp op0 = std::get<AluOp>(instruction.operands[kOp0]);
  const AluOp op1 = std::get<AluOp>(instruction.operands[kOp1]);
  bool legal = false;
  for (const auto& [first, second] : kPairs) legal = legal || (op0 == first && op1 == second);
  if (!legal)
    return InvalidArgument("activate2.alu: (", RowOf(op0).name, ", ", RowOf(op1).name,
                           "), allowed are (multiply, add), (multiply, subtract), (multiply, "
                           "bypass), (add, bypass), (subtract, bypass), (bypass, bypass)");
  if (op0 == AluOp::kBypass && IntegerAt(instruction, kReverse0) != 0)
    return InvalidArgument("activate2.reverse: reverse0 needs op0");
  if (op1 == AluOp::kBypass && IntegerAt(instruction, kReverse1) != 0)
    return InvalidArgument("activate2.reverse: reverse1 needs op1");
  const bool reduces = IntegerAt(instruction, kReduceCmd) != 0 ||
                       std::holds_alternative<AccessPattern>(OperandAt(instruction, kReduceRes));
  if (reduces && !std::holds_alternative<AluOp>(OperandAt(instruction, kReduceOp)))
    return InvalidArgument("activate2.reduce_op: reduce_cmd and reduce_res need reduce_op");
  return CheckReduction(
      instruction,
      {.label = "activate2",
       .command = kReduceCmd,
       .commands = Bit(ReduceCmd::kIdle) | Bit(ReduceCmd::kReset) | Bit(ReduceCmd::kReduce) |
                   Bit(ReduceCmd::kResetReduce),
       .op = kReduceOp,
       .ops = {AluOp::kAdd, AluOp::kMaximum, AluOp::kMinimum, AluOp::kAbsMax, AluOp::kAbsMin}});
}

double Cost(const CostInput& input) {
  // As activation: 8 and 16-bit data pass two at a time.
  const bool narrow = ByteSize(TileAt(input.instruction, kDst).dtype) <= 2 &&
                      ByteSize(TileAt(input.instruction, kData).dtype) <= 2;
  const bool reads =
      std::holds_alternative<AccessPattern>(OperandAt(input.instruction, kReduceRes));
  return EngineCycles(input, static_cast<double>(input.elements[kDst]) / (narrow ? 2 : 1)) +
         (reads ? 64 : 0);
}

}  // namespace

constinit const InstructionDef kDef_activate2{
    .mnemonic = "activate2",
    .summary = "Apply two scalar operators and an activation function.",
    .doc =
        "dst = op((data op0 imm0) op1 imm1), in fp32; bypass leaves an operator out. reverse0, "
        "reverse1: the "
        "immediate comes first. relu_param is the slope of prelu.\n"
        "With reduce_cmd other than idle the reduction of each row's fp32 results (before rounding "
        "to dst, in "
        "tensor_reduce's order) goes to Scalar's accumulator, and to reduce_res.",
    .engines = Bit(Engine::kScalar),
    .operands = kOperands,
    .since = Target::kTrn3,
    .check = Check,
    .cost = Cost,
    .cost_doc = "max(64, N), N / 2 for 8 and 16-bit tiles; 64 more with reduce_res",
    .source = "NKI 0.6 reference, nki.isa.activate2",
};

}  // namespace neuron::isa
