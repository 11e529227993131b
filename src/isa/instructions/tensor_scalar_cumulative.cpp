#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_scalar_cumulative_operands;

constexpr DTypeMask kNarrow =
    kNumbers & ~Mask({DType::kPred, DType::kTF32, DType::kS32, DType::kU32});

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNarrow, "[P, N]"),
    In("src", kOnChip, kNarrow, "[P, N]"),
    Value("op0", OperandKind::kAlu, "arithmetic operator"),
    Value("op1", OperandKind::kAlu, "add, subtract, multiply, maximum or minimum"),
    Scalar("imm0", "scalar or [P, 1]", kF32Only),
    Optional(Scalar("imm1", "scalar or [P, 1], with load_reduce", kF32Only)),
    Optional(Value("reduce_cmd", OperandKind::kInteger, "3 reset_reduce if absent")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSameShape(instruction, "tensor_scalar_cumulative.shape", {kDst, kSrc}));
  for (const size_t operand : {size_t{kImm0}, size_t{kImm1}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "tensor_scalar_cumulative.operand", operand, kSrc));
  const AluRow& op0 = RowOf(std::get<AluOp>(instruction.operands[kOp0]));
  if (op0.bitvec)
    return InvalidArgument("tensor_scalar_cumulative.alu: ", op0.name,
                           " is no arithmetic operator");
  NEURON_RETURN_IF_ERROR(CheckAlu(instruction, "tensor_scalar_cumulative.alu", {kOp0}));
  return CheckReduction(
      instruction,
      {.label = "tensor_scalar_cumulative",
       .command = kReduceCmd,
       .command_otherwise = 3,
       .commands =
           Bit(ReduceCmd::kReduce) | Bit(ReduceCmd::kResetReduce) | Bit(ReduceCmd::kLoadReduce),
       .op = kOp1,
       .ops = {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMaximum, AluOp::kMinimum},
       .init = kImm1});
}

double Cost(const CostInput& input) {
  return EngineCycles(
      input, std::max(kMinIssueCycles,
                      static_cast<double>(input.elements[kDst])));  // inferred: as tensor_scalar
}

}  // namespace

constinit const InstructionDef kDef_tensor_scalar_cumulative{
    .mnemonic = "tensor_scalar_cumulative",
    .summary = "Apply a scalar operator and accumulate along each row.",
    .doc =
        "r[i] = (src[i] op0 imm0) op1 r[i-1] along each row, in fp32; dst = r rounded. r begins "
        "with op1's "
        "identity (reset_reduce: 0 for add and subtract), Vector's accumulator (reduce) or imm1 "
        "(load_reduce), "
        "and ends in the accumulator.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N)",
    .source = "NKI 0.6 reference, nki.isa.tensor_scalar_cumulative",
};

}  // namespace neuron::isa
