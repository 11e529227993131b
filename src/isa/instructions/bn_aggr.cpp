#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace bn_aggr_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kF32Only, "[P, 2]"),
    In("data", kOnChip, kF32Only, "[P, 3 k]"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, "bn_aggr.shape", {kDst, kData}));
  NEURON_RETURN_IF_ERROR(CheckRange("bn_aggr.shape", "dst's elements per partition",
                                    ElementsOf(instruction, kDst), 2, 2));
  if (ElementsOf(instruction, kData) % 3 != 0)
    return InvalidArgument("bn_aggr.shape: data has ", ElementsOf(instruction, kData),
                           " elements per partition, expected a multiple of 3");
  return OkStatus();
}

double Cost(const CostInput& input) {
  return EngineCycles(
      input, std::max(kMinIssueCycles, 13 * static_cast<double>(input.elements[kData]) / 3));
}

}  // namespace

constinit const InstructionDef kDef_bn_aggr{
    .mnemonic = "bn_aggr",
    .summary = "Combine statistics of bn_stats to mean and variance.",
    .doc =
        "dst[P, 2] = mean and (population) variance of the union of the triples in data, as "
        "bn_stats made them: count, mean, variance * count.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, 13 N / 3)",
    .source = "NKI 0.6 reference, nki.isa.bn_aggr",
};

}  // namespace neuron::isa
