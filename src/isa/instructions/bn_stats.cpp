#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace bn_stats_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kF32Only, "[P, 6]"),
    In("data", kOnChip, kFloats, "[P, N], N at most 512"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, "bn_stats.shape", {kDst, kData}));
  NEURON_RETURN_IF_ERROR(CheckRange("bn_stats.shape", "dst's elements per partition",
                                    ElementsOf(instruction, kDst), 6, 6));
  return CheckRange("bn_stats.shape", "data's elements per partition",
                    ElementsOf(instruction, kData), 1, 512);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, std::max(kMinIssueCycles, static_cast<double>(input.elements[kData])));
}

}  // namespace

constinit const InstructionDef kDef_bn_stats{
    .mnemonic = "bn_stats",
    .summary = "Compute count, mean and variance of each row.",
    .doc =
        "dst[P, 6] = count, mean, variance * count of data's even elements, then of its odd "
        "ones.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N)",
    .source = "NKI 0.6 reference, nki.isa.bn_stats",
};

}  // namespace neuron::isa
