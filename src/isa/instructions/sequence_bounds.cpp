#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace sequence_bounds_operands;

constexpr DTypeMask kBounds = Mask({DType::kF32, DType::kS32});

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kBounds, "[1, 2 * N]: N begins, then N ends"),
    In("segment_ids", kSbuf, kBounds, "[1, N]"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSamePartitions(instruction, "sequence_bounds.shape", {kDst, kSegmentIds}));
  NEURON_RETURN_IF_ERROR(CheckRange("sequence_bounds.shape", "the number of partitions",
                                    PartitionsOf(instruction, kDst), 1, 1));
  return CheckElements(instruction, "sequence_bounds.shape", kDst,
                       2 * ElementsOf(instruction, kSegmentIds));
}

double Cost(const CostInput& input) {
  return EngineCycles(
      input, static_cast<double>(input.elements[kDst]));  // inferred: one pass in either direction
}

}  // namespace

constinit const InstructionDef kDef_sequence_bounds{
    .mnemonic = "sequence_bounds",
    .summary = "Find where the segment of each element begins and ends.",
    .doc =
        "dst[0, i] = the index at which the run of equal segment_ids that element i belongs to "
        "begins, "
        "dst[1, i] = the index after its end. Padding (id 0) has N and -1.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "150 + 2 N",
    .source = "NKI 0.6 reference, nki.isa.sequence_bounds",
};

}  // namespace neuron::isa
