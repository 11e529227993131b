#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace quantize_mx_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, Mask({DType::kF8E5M2X4, DType::kF8E4M3FNX4}), "[P, F / 4]"),
    In("src", kSbuf, Mask({DType::kF16, DType::kBF16}), "[P, F], P a multiple of 32, F of 4"),
    ScaleRows(InOut("dst_scale", kSbuf, kScales, "[P / 8, F / 4] if P is 32, else [P, F / 4]")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, "quantize_mx.shape", {kDst, kSrc}));
  NEURON_RETURN_IF_ERROR(CheckPartitionGrain(instruction, "quantize_mx.shape", kSrc, 32));
  if (ElementsOf(instruction, kSrc) % 4 != 0)
    return InvalidArgument("quantize_mx.shape: src has ", ElementsOf(instruction, kSrc),
                           " elements per partition, expected a multiple of 4");
  NEURON_RETURN_IF_ERROR(
      CheckElements(instruction, "quantize_mx.shape", kDst, ElementsOf(instruction, kSrc) / 4));
  return CheckMxScale(instruction, "quantize_mx.scale", kDstScale, kDst);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, static_cast<double>(input.elements[kSrc]) /
                                 4);  // documented: four elements per lane and cycle
}

}  // namespace

constinit const InstructionDef kDef_quantize_mx{
    .mnemonic = "quantize_mx",
    .summary = "Quantise to an MX format.",
    .doc =
        "Groups are 8 rows by 4 neighbouring elements of src. A group's scale is 2^(floor(log2 a) "
        "- (E - 1)), a "
        "its largest magnitude, E = 8 (e4m3fn) or 15 (e5m2): the exponent plus 127 in a byte, 0 "
        "for a group of "
        "zeros, 255 for one with infinity or NaN (ours). dst = src / scale, rounded to nearest "
        "even, four to an "
        "element.\n"
        "Scales of a tile of 32 rows lie in rows 0 to 3 of dst_scale; of a larger one those of "
        "each 32 rows in the "
        "first four rows of the 32. dst_scale may start at partition 0, 4, 8 or 12 of a quadrant.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .since = Target::kTrn3,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + F / 4",
    .source = "NKI 0.6 reference, nki.isa.quantize_mx",
};

}  // namespace neuron::isa
