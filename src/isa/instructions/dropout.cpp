#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace dropout_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N], data's dtype"),
    In("data", kOnChip, kNumbers, "[P, N]"),
    Scalar("prob", "scalar or [P, 1]; of integer data fp32", kFloats),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "dropout.shape", {kDst, kData}));
  NEURON_RETURN_IF_ERROR(CheckSameDType(instruction, "dropout.dtype", kDst, kData));
  NEURON_RETURN_IF_ERROR(CheckPerPartitionScalar(instruction, "dropout.prob", kProb, kData));
  if (const auto* prob = std::get_if<double>(&instruction.operands[kProb]))
    if (!(*prob >= 0 && *prob <= 1))
      return InvalidArgument("dropout.prob: ", *prob, " is no probability");
  const auto* tile = std::get_if<AccessPattern>(&instruction.operands[kProb]);
  if (tile != nullptr && !IsFloating(TileAt(instruction, kData).dtype) &&
      tile->dtype != DType::kF32)
    return InvalidArgument("dropout.prob: is ", DTypeName(tile->dtype),
                           ", for integer data it is f32");
  return OkStatus();
}

double Cost(const CostInput& input) {
  return EngineCycles(input, std::max(kMinIssueCycles, static_cast<double>(input.elements[kDst])));
}

}  // namespace

constinit const InstructionDef kDef_dropout{
    .mnemonic = "dropout",
    .summary = "Replace random elements by zeros.",
    .doc =
        "dst = 0 where u < prob, else data, bits moved: u as in rand2, from Vector's generators "
        "(rng).",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N)",
    .source = "NKI 0.6 reference, nki.isa.dropout",
};

}  // namespace neuron::isa
