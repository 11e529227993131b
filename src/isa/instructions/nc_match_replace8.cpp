#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nc_match_replace8_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("data", kOnChip, kNumbers, "[P, N], N from 8 to 16384"),
    In("vals", kOnChip, kNumbers, "[P, 8]"),
    Value("imm", OperandKind::kNumber, "fp32"),
    Optional(Out("dst_idx", kOnChip, Mask({DType::kU16, DType::kU32}), "[P, 8]")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "nc_match_replace8.shape", {kDst, kData}));
  NEURON_RETURN_IF_ERROR(
      CheckSamePartitions(instruction, "nc_match_replace8.shape", {kDst, kVals, kDstIdx}));
  NEURON_RETURN_IF_ERROR(CheckElements(instruction, "nc_match_replace8.shape", kVals, 8));
  if (std::holds_alternative<AccessPattern>(OperandAt(instruction, kDstIdx)))
    NEURON_RETURN_IF_ERROR(CheckElements(instruction, "nc_match_replace8.shape", kDstIdx, 8));
  return CheckRange("nc_match_replace8.shape", "data's elements per partition",
                    ElementsOf(instruction, kData), 8, 16384);
}

double Cost(const CostInput& input) {
  // The documentation's min(64, N) would make long rows cheaper than short ones: read as max.
  return EngineCycles(input, std::max(kMinIssueCycles, static_cast<double>(input.elements[kData])));
}

}  // namespace

constinit const InstructionDef kDef_nc_match_replace8{
    .mnemonic = "nc_match_replace8",
    .summary = "Replace eight values of each row.",
    .doc =
        "dst = data with one occurrence of each of the eight vals of the row replaced by imm: the "
        "first that no "
        "other val took. vals are taken from the last to the first, so equal vals get descending "
        "positions. "
        "dst_idx = the positions, all ones where a val is not there. NaN equals NaN here.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N)",
    .source = "NKI 0.6 reference, nki.isa.nc_match_replace8",
};

}  // namespace neuron::isa
