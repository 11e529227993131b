#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace iota_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kNumbers, "[P, N], N = product of the pattern's counts"),
    Value("pattern", OperandKind::kIntegers, "step0, count0, step1, count1, ...; at most 4 pairs"),
    Optional(Value("offset", OperandKind::kAffine, "0 if absent")),
    Optional(Value("channel_multiplier", OperandKind::kInteger, "0 if absent")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  return CheckPattern(instruction, "iota.pattern", kPattern, kDst);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, static_cast<double>(input.elements[kDst]));
}

}  // namespace

constinit const InstructionDef kDef_iota{
    .mnemonic = "iota",
    .summary = "Write an affine function of the indices.",
    .doc =
        "dst[p, i] = offset + p * channel_multiplier + sum of index * step over pattern, "
        "where i counts through pattern's (step, count) pairs, last fastest; 32-bit integer, "
        "then converted to dst.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "150 + N",
    .source = "NKI 0.6 reference, nki.isa.iota",
};

}  // namespace neuron::isa
