#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nonzero_with_count_operands;

constexpr OperandDef kOperands[] = {
    InOut("dst", kSbuf, Mask({DType::kS32}), "[P, N + 1]"),
    In("src", kSbuf, Mask({DType::kF32, DType::kS32}), "[P, N]"),
    Optional(Value("index_offset", OperandKind::kInteger, "0 if absent")),
    Optional(Value("padding_val", OperandKind::kInteger, "-1 if absent")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSamePartitions(instruction, "nonzero_with_count.shape", {kDst, kSrc}));
  NEURON_RETURN_IF_ERROR(CheckElements(instruction, "nonzero_with_count.shape", kDst,
                                       ElementsOf(instruction, kSrc) + 1));
  for (const size_t operand : {size_t{kIndexOffset}, size_t{kPaddingVal}})
    NEURON_RETURN_IF_ERROR(CheckRange("nonzero_with_count.integer", "an operand",
                                      IntegerAt(instruction, operand), INT32_MIN, INT32_MAX));
  return OkStatus();
}

double Cost(const CostInput& input) {
  return EngineCycles(
      input, static_cast<double>(input.elements[kDst]));  // inferred: an element per cycle and core
}

}  // namespace

constinit const InstructionDef kDef_nonzero_with_count{
    .mnemonic = "nonzero_with_count",
    .summary = "Find the indices of nonzero elements and count them.",
    .doc =
        "In rows 0, 16, 32, ... : dst = the indices of src's elements that are not 0, plus "
        "index_offset, then "
        "padding_val up to N elements, then their count. Other rows of dst keep their values.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "150 + N",
    .source = "NKI 0.6 reference, nki.isa.nonzero_with_count",
};

}  // namespace neuron::isa
