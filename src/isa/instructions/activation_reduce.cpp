#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace activation_reduce_operands;

constexpr DTypeMask kBiases = kNumbers & ~Mask({DType::kTF32});

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    Value("op", OperandKind::kActivation, "function"),
    In("data", kOnChip, kNumbers, "[P, N]"),
    Value("reduce_op", OperandKind::kAlu, "add"),
    Out("reduce_res", kOnChip, kFloats, "[P, 1]"),
    Optional(Scalar("bias", "scalar or [P, 1], not tf32; 0 if absent", kBiases)),
    Optional(Scalar("scale", "scalar or [P, 1]; 1 if absent", kF32Only)),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "activation_reduce.shape", {kDst, kData}));
  for (const size_t operand : {size_t{kBias}, size_t{kScale}, size_t{kReduceRes}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "activation_reduce.operand", operand, kData));
  const AluOp reduce = std::get<AluOp>(instruction.operands[kReduceOp]);
  if (reduce != AluOp::kAdd)
    return InvalidArgument("activation_reduce.reduce_op: ", RowOf(reduce).name,
                           ", only add is legal");
  return OkStatus();
}

double Cost(const CostInput& input) {
  // 16-bit and narrower pass two at a time on trn3; reading the reduce registers takes 64 cycles.
  const bool narrow = ByteSize(TileAt(input.instruction, kDst).dtype) <= 2 &&
                      ByteSize(TileAt(input.instruction, kData).dtype) <= 2;
  const double rate = input.target == Target::kTrn3 && narrow ? 2 : 1;
  const double cycles = EngineCycles(input, static_cast<double>(input.elements[kDst]) / rate);
  return cycles + 64;
}

}  // namespace

constinit const InstructionDef kDef_activation_reduce{
    .mnemonic = "activation_reduce",
    .summary = "Apply an activation function and sum each row.",
    .doc =
        "dst = op(data * scale + bias), and reduce_res = the row's sum of those fp32 results "
        "(before rounding to dst), in tensor_reduce's order: activation with reduce_cmd "
        "reset_reduce.",
    .engines = Bit(Engine::kScalar),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "max(64, N) + 64",
    .source = "NKI 0.6 reference, nki.isa.activation_reduce",
};

}  // namespace neuron::isa
