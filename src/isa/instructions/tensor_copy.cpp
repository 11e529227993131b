#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_copy_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("src", kOnChip, kNumbers, "[P, N]"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  return CheckSameShape(instruction, "tensor_copy.shape", {kDst, kSrc});
}

double Cost(const CostInput& input) {
  return EngineCycles(input, OneInputCycles(input, kDst, kSrc));
}

}  // namespace

constinit const InstructionDef kDef_tensor_copy{
    .mnemonic = "tensor_copy",
    .summary = "Copy a tile, converting its dtype.",
    .doc =
        "dst = src, converted. Equal dtypes are copied bit by bit; integers to integers are "
        "truncated, everything else goes through fp32 (on Scalar always).",
    .engines = Bit(Engine::kVector) | Bit(Engine::kScalar) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc =
        "144 + max(64, N), N / 2 or N / 4 by performance mode; Scalar max(64, N); GpSimd 150 + N",
    .source = "NKI 0.6 reference, nki.isa.tensor_copy",
};

}  // namespace neuron::isa
