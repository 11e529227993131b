#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace rand2_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    Scalar("min", "scalar or [P, 1]", kF32Only),
    Scalar("max", "scalar or [P, 1]", kF32Only),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  for (const size_t operand : {size_t{kMin}, size_t{kMax}})
    NEURON_RETURN_IF_ERROR(CheckPerPartitionScalar(instruction, "rand2.operand", operand, kDst));
  const auto* least = std::get_if<double>(&instruction.operands[kMin]);
  const auto* most = std::get_if<double>(&instruction.operands[kMax]);
  if (least != nullptr && most != nullptr && !(*least < *most))
    return InvalidArgument("rand2.range: min ", *least, " is not below max ", *most);
  return OkStatus();
}

double Cost(const CostInput& input) {
  return EngineCycles(input, static_cast<double>(input.elements[kDst]) /
                                 4);  // documented: four words per lane and cycle
}

}  // namespace

constinit const InstructionDef kDef_rand2{
    .mnemonic = "rand2",
    .summary = "Write uniform random numbers.",
    .doc =
        "dst = min + u * (max - min), in fp32: u = the 24 high bits of the lane's next random word "
        "(rng, Vector) "
        "as a fraction, in [0, 1).",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .since = Target::kTrn3,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + N / 4",
    .source = "NKI 0.6 reference, nki.isa.rand2",
};

}  // namespace neuron::isa
