#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace select_reduce_operands;

constexpr DTypeMask kPredicates =
    Mask({DType::kPred, DType::kS8, DType::kS16, DType::kU8, DType::kU16});
constexpr DTypeMask kSelectable = kNumbers & ~Mask({DType::kTF32, DType::kS32, DType::kU32});

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("predicate", kOnChip, kPredicates, "[P, N]"),
    In("on_true", kOnChip, kSelectable, "[P, N]; not in PSUM together with predicate"),
    Scalar("on_false", "scalar or [P, 1]"),
    Optional(Out("reduce_res", kOnChip, kFloats, "[P, 1], the accumulator after this instruction")),
    Optional(Value("reduce_cmd", OperandKind::kInteger, "0 idle if absent")),
    Optional(Value("reduce_op", OperandKind::kAlu, "maximum")),
    Optional(Value("reverse_pred", OperandKind::kFlag, "1: swap the two")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSameShape(instruction, "select_reduce.shape", {kDst, kPredicate, kOnTrue}));
  for (const size_t operand : {size_t{kOnFalse}, size_t{kReduceRes}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "select_reduce.operand", operand, kOnTrue));
  NEURON_RETURN_IF_ERROR(CheckNotBothPsum(instruction, "select_reduce.psum", kPredicate, kOnTrue));
  return CheckReduction(instruction, {.label = "select_reduce",
                                      .command = kReduceCmd,
                                      .commands = Bit(ReduceCmd::kIdle) | Bit(ReduceCmd::kReduce) |
                                                  Bit(ReduceCmd::kResetReduce),
                                      .op = kReduceOp,
                                      .ops = {AluOp::kMaximum}});
}

double Cost(const CostInput& input) {
  return EngineCycles(input, std::max(kMinIssueCycles, static_cast<double>(input.elements[kDst])));
}

}  // namespace

constinit const InstructionDef kDef_select_reduce{
    .mnemonic = "select_reduce",
    .summary = "Select elements by a predicate and reduce them.",
    .doc =
        "dst = on_true where predicate is not 0, else on_false (the other way round with "
        "reverse_pred), "
        "through fp32. With reduce_cmd other than idle the largest of each row's fp32 results goes "
        "to "
        "Vector's accumulator, and to reduce_res.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N)",
    .source = "NKI 0.6 reference, nki.isa.select_reduce",
};

}  // namespace neuron::isa
