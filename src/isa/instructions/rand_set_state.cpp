#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace rand_set_state_operands;

constexpr OperandDef kOperands[] = {
    In("src_seeds", kSbuf, Mask({DType::kU32}), "[P, 6] on GpSimd, [P, 24] on Vector"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target target) {
  const bool vector = instruction.engine == Engine::kVector;
  if (vector && target == Target::kTrn2)
    return InvalidArgument("rand_set_state.engine: vector has it from trn3 on, trn2's gpsimd only");
  return CheckElements(instruction, "rand_set_state.shape", kSrcSeeds, vector ? 24 : 6);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, kMinIssueCycles);  // inferred: the least of an instruction
}

}  // namespace

constinit const InstructionDef kDef_rand_set_state{
    .mnemonic = "rand_set_state",
    .summary = "Set the states of the random generators.",
    .doc =
        "The generators of lane p take their states from row p: six words each (x, y, z, w, v and "
        "the counter d "
        "of XORWOW), one generator on GpSimd, four on Vector.",
    .engines = Bit(Engine::kVector) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + 64; GpSimd 150 + 64",
    .source = "NKI 0.6 reference, nki.isa.rand_set_state",
};

}  // namespace neuron::isa
