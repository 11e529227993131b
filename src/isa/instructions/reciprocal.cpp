#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace reciprocal_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kFloats, "[P, N]"),
    In("data", kOnChip, kNumbers, "[P, N]"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  return CheckSameShape(instruction, "reciprocal.shape", {kDst, kData});
}

double Cost(const CostInput& input) {
  return EngineCycles(input,
                      std::max(kMinIssueCycles, 8 * static_cast<double>(input.elements[kDst])));
}

}  // namespace

constinit const InstructionDef kDef_reciprocal{
    .mnemonic = "reciprocal",
    .summary = "Take the reciprocal of each element.",
    .doc =
        "dst = 1 / data, correctly rounded fp32. (Scalar's activation reciprocal is faster "
        "and less exact.)",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, 8 N)",
    .source = "NKI 0.6 reference, nki.isa.reciprocal",
};

}  // namespace neuron::isa
