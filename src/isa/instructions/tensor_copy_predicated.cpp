#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_copy_predicated_operands;

constexpr OperandDef kOperands[] = {
    Tile("dst", Role::kInOut, kOnChip, kNumbers, "[P, N]"),
    Scalar("src", "scalar, or [P, N] of dst's dtype"),
    In("predicate", kOnChip, kIntegers, "[P, N], integers or pred"),
    Optional(Value("reverse_pred", OperandKind::kFlag, "1: copy where the predicate is 0")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSameShape(instruction, "tensor_copy_predicated.shape", {kDst, kSrc, kPredicate}));
  const auto* src = std::get_if<AccessPattern>(&instruction.operands[kSrc]);
  const AccessPattern& dst = TileAt(instruction, kDst);
  if (src != nullptr && src->dtype != dst.dtype)
    return InvalidArgument("tensor_copy_predicated.dtype: src is ", DTypeName(src->dtype), ", dst ",
                           DTypeName(dst.dtype), "; convert one with tensor_copy");
  return CheckNotBothPsum(instruction, "tensor_copy_predicated.psum", kSrc, kPredicate);
}

double Cost(const CostInput& input) {
  const auto* src = std::get_if<AccessPattern>(&input.instruction.operands[kSrc]);
  const bool psum = (src != nullptr && src->memory == Memory::kPsum) ||
                    TileAt(input.instruction, kPredicate).memory == Memory::kPsum;
  const double n = static_cast<double>(input.elements[kDst]);
  return EngineCycles(input, psum || src == nullptr ? n : 2 * n);
}

}  // namespace

constinit const InstructionDef kDef_tensor_copy_predicated{
    .mnemonic = "tensor_copy_predicated",
    .summary = "Copy the elements that a predicate selects.",
    .doc =
        "dst = src where predicate is not 0 (reverse_pred: where it is 0); elsewhere dst "
        "stays. src is an immediate, a register, or a whole tile [P, N] of dst's dtype.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + 2 N; 144 + N with a scalar src or an input in PSUM",
    .source = "NKI 0.6 reference, nki.isa.tensor_copy_predicated",
};

}  // namespace neuron::isa
