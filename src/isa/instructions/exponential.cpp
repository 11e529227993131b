#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace exponential_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("src", kOnChip, kNumbers, "[P, N]"),
    Optional(Scalar("max_value", "scalar or [P, 1]; 0 if absent", kF32Only)),
    Optional(Out("reduce_res", kOnChip, kFloats, "[P, 1], the accumulator after this instruction")),
    Optional(Value("reduce_cmd", OperandKind::kInteger, "0 idle if absent")),
    Optional(Scalar("reduce_init", "scalar or [P, 1], with load_reduce", kF32Only)),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "exponential.shape", {kDst, kSrc}));
  for (const size_t operand : {size_t{kMaxValue}, size_t{kReduceRes}, size_t{kReduceInit}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "exponential.operand", operand, kSrc));
  return CheckReduction(instruction,
                        {.label = "exponential",
                         .command = kReduceCmd,
                         .commands = Bit(ReduceCmd::kIdle) | Bit(ReduceCmd::kReduce) |
                                     Bit(ReduceCmd::kResetReduce) | Bit(ReduceCmd::kLoadReduce),
                         .init = kReduceInit});
}

double Cost(const CostInput& input) {
  // Documented: four times the throughput of Scalar's exponential.
  const bool reads =
      std::holds_alternative<AccessPattern>(OperandAt(input.instruction, kReduceRes));
  return EngineCycles(input, static_cast<double>(input.elements[kDst]) / 4 + (reads ? 64 : 0));
}

}  // namespace

constinit const InstructionDef kDef_exponential{
    .mnemonic = "exponential",
    .summary = "Subtract a maximum and apply the exponential.",
    .doc =
        "dst = exp(src - max_value), in fp32. With reduce_cmd other than idle the sum of each "
        "row's fp32 "
        "results (before rounding to dst, in tensor_reduce's order) goes to Vector's accumulator, "
        "and to "
        "reduce_res.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .since = Target::kTrn3,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + N / 4; 64 more with reduce_res",
    .source = "NKI 0.6 reference, nki.isa.exponential",
};

}  // namespace neuron::isa
