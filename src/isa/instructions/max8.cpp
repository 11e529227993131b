#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace max8_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, 8]"),
    In("src", kOnChip, kNumbers, "[P, N], N from 8 to 16384"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, "max8.shape", {kDst, kSrc}));
  NEURON_RETURN_IF_ERROR(CheckRange("max8.shape", "dst's elements per partition",
                                    ElementsOf(instruction, kDst), 8, 8));
  return CheckRange("max8.shape", "src's elements per partition", ElementsOf(instruction, kSrc), 8,
                    16384);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, static_cast<double>(input.elements[kSrc]));
}

}  // namespace

constinit const InstructionDef kDef_max8{
    .mnemonic = "max8",
    .summary = "Find the eight largest elements of each row.",
    .doc =
        "dst[P, 8] = the eight largest elements of each row, descending; NaN counts as "
        "largest.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .max_free_dims = 3,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + N",
    .source = "NKI 0.6 reference, nki.isa.max8",
};

}  // namespace neuron::isa
