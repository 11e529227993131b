#include <limits>

#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace range_select_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("on_true_tile", kOnChip, kFloats, "[P, N]"),
    Value("comp_op0", OperandKind::kAlu, "equal, less, less_equal, greater or greater_equal"),
    Value("comp_op1", OperandKind::kAlu, "as comp_op0"),
    In("bound0", kOnChip, kF32Only, "[P, 1]"),
    In("bound1", kOnChip, kF32Only, "[P, 1]"),
    Optional(Value("reduce_cmd", OperandKind::kInteger, "3 reset_reduce if absent")),
    Optional(Out("reduce_res", kOnChip, kFloats, "[P, 1], the accumulator after this instruction")),
    Optional(Value("reduce_op", OperandKind::kAlu, "maximum")),
    Optional(Value("range_start", OperandKind::kInteger, "of the first element; 0 if absent")),
    Optional(Value("on_false_value", OperandKind::kNumber, "the lowest fp32")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "range_select.shape", {kDst, kOnTrueTile}));
  for (const size_t operand : {size_t{kBound0}, size_t{kBound1}, size_t{kReduceRes}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "range_select.bound", operand, kOnTrueTile));
  for (const size_t operand : {size_t{kCompOp0}, size_t{kCompOp1}}) {
    const AluOp op = std::get<AluOp>(instruction.operands[operand]);
    if (op != AluOp::kEqual && op != AluOp::kLess && op != AluOp::kLessEqual &&
        op != AluOp::kGreater && op != AluOp::kGreaterEqual)
      return InvalidArgument("range_select.comp_op: ", RowOf(op).name,
                             ", allowed are equal, less, less_equal, greater, greater_equal");
  }
  const auto* fill = std::get_if<double>(&OperandAt(instruction, kOnFalseValue));
  if (fill != nullptr && static_cast<float>(*fill) != std::numeric_limits<float>::lowest())
    return InvalidArgument("range_select.on_false_value: ", *fill,
                           ", only the lowest fp32 (-3.4028235e38) is legal");
  const int64_t start = IntegerAt(instruction, kRangeStart);
  NEURON_RETURN_IF_ERROR(CheckRange("range_select.range_start", "the last index",
                                    start + ElementsOf(instruction, kDst) - 1, 0, 1 << 24));
  NEURON_RETURN_IF_ERROR(CheckRange("range_select.range_start", "range_start", start, 0, 1 << 24));
  return CheckReduction(instruction,
                        {.label = "range_select",
                         .command = kReduceCmd,
                         .command_otherwise = 3,
                         .commands = Bit(ReduceCmd::kIdle) | Bit(ReduceCmd::kReset) |
                                     Bit(ReduceCmd::kReduce) | Bit(ReduceCmd::kResetReduce),
                         .op = kReduceOp,
                         .ops = {AluOp::kMaximum}});
}

double Cost(const CostInput& input) {
  return EngineCycles(input, std::max(kMinIssueCycles, static_cast<double>(input.elements[kDst])));
}

}  // namespace

constinit const InstructionDef kDef_range_select{
    .mnemonic = "range_select",
    .summary = "Select elements whose index lies in a range.",
    .doc =
        "dst = on_true_tile where comp_op0(i + range_start, bound0) and comp_op1(i + range_start, "
        "bound1) hold, "
        "i being the index in the row, in fp32; elsewhere on_false_value, which is the lowest "
        "fp32.\n"
        "The largest of those fp32 results of each row goes to Vector's accumulator, as reduce_cmd "
        "says "
        "(tensor_scalar_reduce), and to reduce_res. A 16-bit dst turns the fill into -infinity.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N)",
    .source = "NKI 0.6 reference, nki.isa.range_select",
};

}  // namespace neuron::isa
