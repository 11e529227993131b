#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nc_find_index8_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, Mask({DType::kU16, DType::kU32}), "[P, 8]"),
    In("data", kOnChip, kNumbers, "[P, N], N from 8 to 16384"),
    In("vals", kOnChip, kNumbers, "[P, 8]"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSamePartitions(instruction, "nc_find_index8.shape", {kDst, kData, kVals}));
  for (const size_t operand : {size_t{kDst}, size_t{kVals}})
    NEURON_RETURN_IF_ERROR(CheckRange(
        "nc_find_index8.shape",
        operand == kDst ? "dst's elements per partition" : "vals' elements per partition",
        ElementsOf(instruction, operand), 8, 8));
  return CheckRange("nc_find_index8.shape", "data's elements per partition",
                    ElementsOf(instruction, kData), 8, 16384);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, static_cast<double>(input.elements[kData]));
}

}  // namespace

constinit const InstructionDef kDef_nc_find_index8{
    .mnemonic = "nc_find_index8",
    .summary = "Find the positions of eight values in each row.",
    .doc =
        "dst[p, j] = index in data's row p of the first element equal to vals[p, j] that no "
        "earlier j took (equal values match ascending positions); all ones if there is none. "
        "NaN equals NaN here.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + N",
    .source = "NKI 0.6 reference, nki.isa.nc_find_index8",
};

}  // namespace neuron::isa
