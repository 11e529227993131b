#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace rand_get_state_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, Mask({DType::kU32}),
        "[P, 6] on GpSimd, [P, 24] on Vector; on trn2 in SBUF"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target target) {
  const bool vector = instruction.engine == Engine::kVector;
  if (vector && target == Target::kTrn2)
    return InvalidArgument("rand_get_state.engine: vector has it from trn3 on, trn2's gpsimd only");
  return CheckElements(instruction, "rand_get_state.shape", kDst, vector ? 24 : 6);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, kMinIssueCycles);  // inferred: the least of an instruction
}

}  // namespace

constinit const InstructionDef kDef_rand_get_state{
    .mnemonic = "rand_get_state",
    .summary = "Read the states of the random generators.",
    .doc = "Row p = the states of the generators of lane p, as rand_set_state takes them.",
    .engines = Bit(Engine::kVector) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + 64; GpSimd 150 + 64",
    .source = "NKI 0.6 reference, nki.isa.rand_get_state",
};

}  // namespace neuron::isa
