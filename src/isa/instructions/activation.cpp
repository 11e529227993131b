#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace activation_operands;

constexpr DTypeMask kBiases = kNumbers & ~Mask({DType::kTF32});

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    Value("op", OperandKind::kActivation, "function"),
    In("data", kOnChip, kNumbers, "[P, N]"),
    Optional(Scalar("bias", "scalar or [P, 1], not tf32; 0 if absent", kBiases)),
    Optional(Scalar("scale", "scalar or [P, 1]; 1 if absent", kF32Only)),
    Optional(Value("reduce_op", OperandKind::kAlu, "add")),
    Optional(Out("reduce_res", kOnChip, kFloats, "[P, 1], the reduce registers")),
    Optional(Value("reduce_cmd", OperandKind::kInteger, "0 idle if absent")),
    Optional(Value("alpha", OperandKind::kNumber, "slope of prelu")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "activation.shape", {kDst, kData}));
  for (const size_t operand : {size_t{kBias}, size_t{kScale}, size_t{kReduceRes}})
    NEURON_RETURN_IF_ERROR(
        CheckPerPartitionScalar(instruction, "activation.operand", operand, kData));
  const auto* reduce = std::get_if<AluOp>(&OperandAt(instruction, kReduceOp));
  if (reduce != nullptr && *reduce != AluOp::kAdd)
    return InvalidArgument("activation.reduce_op: ", RowOf(*reduce).name, ", only add is legal");
  if (reduce == nullptr && IntegerAt(instruction, kReduceCmd) >= 2)
    return InvalidArgument("activation.reduce_op: reduce_cmd ", IntegerAt(instruction, kReduceCmd),
                           " needs reduce_op");
  return CheckRange("activation.reduce_cmd", "reduce_cmd", IntegerAt(instruction, kReduceCmd), 0,
                    3);
}

double Cost(const CostInput& input) {
  // 16-bit and narrower pass two at a time on trn3; reading the reduce registers takes 64 cycles.
  const bool narrow = ByteSize(TileAt(input.instruction, kDst).dtype) <= 2 &&
                      ByteSize(TileAt(input.instruction, kData).dtype) <= 2;
  const double rate = input.target == Target::kTrn3 && narrow ? 2 : 1;
  const double cycles = EngineCycles(input, static_cast<double>(input.elements[kDst]) / rate);
  return cycles +
         (std::holds_alternative<AccessPattern>(OperandAt(input.instruction, kReduceRes)) ? 64 : 0);
}

}  // namespace

constinit const InstructionDef kDef_activation{
    .mnemonic = "activation",
    .summary = "Apply an activation function to scaled and biased data.",
    .doc =
        "dst = op(data * scale + bias), in fp32; optionally the row sums of those results go "
        "to reduce_res.\n"
        "scale and bias are immediates, registers or one value per partition. Legal "
        "reduction: add, of the fp32 results before rounding to dst, in tensor_reduce's "
        "order. reduce_cmd: as tensor_scalar_reduce, 0 idle if absent. alpha is the slope of "
        "prelu for negative inputs (ours here; the public ISA has it in activate2).",
    .engines = Bit(Engine::kScalar),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "max(64, N); 64 more with reduce_res",
    .source = "NKI 0.6 reference, nki.isa.activation",
};

}  // namespace neuron::isa
