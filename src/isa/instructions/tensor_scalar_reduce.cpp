#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_scalar_reduce_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("data", kOnChip, kNumbers, "[P, N]"),
    Value("op0", OperandKind::kAlu, "arithmetic operator"),
    Scalar("operand0", "scalar or [P, 1]"),
    Value("reduce_op", OperandKind::kAlu, "add, multiply, maximum or minimum"),
    Optional(Out("reduce_res", kOnChip, kFloats, "[P, 1], the accumulator after this instruction")),
    Optional(Value("reverse0", OperandKind::kFlag, "1: operand0 op0 data (ours)")),
    Optional(Value("reduce_cmd", OperandKind::kInteger, "see above; 3 if absent")),
    Optional(Scalar("reduce_init", "scalar or [P, 1], with load_reduce")),
    Optional(Value("reduce_res_negate", OperandKind::kFlag, "1: reduce_res = -accumulator")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "tensor_scalar_reduce.shape", {kDst, kData}));
  for (const size_t operand : {size_t{kOperand0}, size_t{kReduceRes}, size_t{kReduceInit}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "tensor_scalar_reduce.operand", operand, kData));
  NEURON_RETURN_IF_ERROR(CheckAlu(instruction, "tensor_scalar_reduce.alu", {kOp0}));
  const AluOp reduce = std::get<AluOp>(instruction.operands[kReduceOp]);
  if (reduce != AluOp::kAdd && reduce != AluOp::kMultiply && reduce != AluOp::kMaximum &&
      reduce != AluOp::kMinimum)
    return InvalidArgument("tensor_scalar_reduce.reduce_op: ", RowOf(reduce).name,
                           ", allowed are add, multiply, maximum, minimum");
  if (RowOf(std::get<AluOp>(instruction.operands[kOp0])).bitvec)
    return InvalidArgument("tensor_scalar_reduce.alu: op0 is a bitvec operator");
  return CheckRange("tensor_scalar_reduce.reduce_cmd", "reduce_cmd",
                    IntegerAt(instruction, kReduceCmd, 3), 0, 4);
}

double Cost(const CostInput& input) {
  return EngineCycles(input,
                      std::max(kMinIssueCycles, static_cast<double>(input.elements[kDst])) + 64);
}

}  // namespace

constinit const InstructionDef kDef_tensor_scalar_reduce{
    .mnemonic = "tensor_scalar_reduce",
    .summary = "Apply a scalar operator and reduce the results.",
    .doc =
        "dst = data op0 operand0, and the reduction of those fp32 results (before rounding to "
        "dst) with reduce_op into Vector's accumulator, one per partition; reduce_res "
        "receives it.\n"
        "reduce_cmd, NKI's numbers: 0 idle, 1 reset, 2 reduce (continue), 3 reset_reduce (the "
        "default: start anew), 4 load_reduce (start with reduce_init). The row's own elements "
        "are reduced in tensor_reduce's order, then combined with the accumulator.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N) + 64",
    .source = "NKI 0.6 reference, nki.isa.tensor_scalar_reduce",
};

}  // namespace neuron::isa
