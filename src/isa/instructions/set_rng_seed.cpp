#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace set_rng_seed_operands;

constexpr OperandDef kOperands[] = {
    In("src_seeds", kOnChip, Mask({DType::kU32, DType::kS32, DType::kF32}), "[1, 1]: 32 bits"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckElements(instruction, "set_rng_seed.shape", kSrcSeeds, 1));
  return CheckRange("set_rng_seed.shape", "the number of partitions",
                    PartitionsOf(instruction, kSrcSeeds), 1, 1);
}

double Cost(const CostInput& input) {
  return EngineCycles(input, kMinIssueCycles);  // inferred: the least of an instruction
}

}  // namespace

constinit const InstructionDef kDef_set_rng_seed{
    .mnemonic = "set_rng_seed",
    .summary = "Seed the random generators of Vector.",
    .doc =
        "The four generators of each of Vector's 128 lanes get states derived from the seed, each "
        "another one. "
        "Equal seeds give equal sequences.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + 64",
    .source = "NKI 0.6 reference, nki.isa.set_rng_seed",
};

}  // namespace neuron::isa
