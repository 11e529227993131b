#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace rng_operands;

constexpr DTypeMask kRandomIntegers = kIntegers & ~Mask({DType::kPred});

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kRandomIntegers, "[P, N]; GpSimd does not reach PSUM"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction&, Target) { return OkStatus(); }

double Cost(const CostInput& input) {
  // Documented for trn3's Vector: four words per lane and cycle; elsewhere inferred: one.
  const bool four = input.instruction.engine == Engine::kVector && input.target == Target::kTrn3;
  return EngineCycles(input, static_cast<double>(input.elements[kDst]) / (four ? 4 : 1));
}

}  // namespace

constinit const InstructionDef kDef_rng{
    .mnemonic = "rng",
    .summary = "Write random bits.",
    .doc =
        "dst = the low bits of a 32-bit random word per element. Every lane has its own generators "
        "(XORWOW, "
        "Marsaglia 2003): four on Vector, taken in turn by the elements of a row, one on GpSimd. "
        "Their states "
        "persist from instruction to instruction; which bits a seed gives is ours, no public text "
        "says.",
    .engines = Bit(Engine::kVector) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + N, on trn3 144 + N / 4; GpSimd 150 + N",
    .source = "NKI 0.6 reference, nki.isa.rng",
};

}  // namespace neuron::isa
