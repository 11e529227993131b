#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace affine_select_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kNumbers, "[P, N]"),
    Value("pattern", OperandKind::kIntegers, "step0, count0, step1, count1, ...; at most 4 pairs"),
    Value("channel_multiplier", OperandKind::kInteger, "step from partition to partition"),
    In("on_true_tile", kSbuf, kNumbers, "[P, N]"),
    Value("on_false_value", OperandKind::kNumber, "fp32"),
    Optional(Value("cmp_op", OperandKind::kAlu, "comparison with 0; equal if absent")),
    Optional(Value("offset", OperandKind::kAffine, "0 if absent")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "affine_select.shape", {kDst, kOnTrueTile}));
  NEURON_RETURN_IF_ERROR(CheckPattern(instruction, "affine_select.pattern", kPattern, kDst));
  const auto* compare = std::get_if<AluOp>(&OperandAt(instruction, kCmpOp));
  if (compare != nullptr && (*compare < AluOp::kEqual || *compare > AluOp::kLessEqual))
    return InvalidArgument("affine_select.cmp_op: ", RowOf(*compare).name, " is no comparison");
  return OkStatus();
}

double Cost(const CostInput& input) {
  return EngineCycles(input, static_cast<double>(input.elements[kDst]));
}

}  // namespace

constinit const InstructionDef kDef_affine_select{
    .mnemonic = "affine_select",
    .summary = "Select elements by an affine condition on their indices.",
    .doc =
        "dst = on_true_tile where cmp_op(value, 0) holds, else on_false_value; value is "
        "iota's affine function: offset + p * channel_multiplier + sum of index * step over "
        "pattern.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "150 + N",
    .source = "NKI 0.6 reference, nki.isa.affine_select",
};

}  // namespace neuron::isa
