#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_partition_reduce_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kNumbers, "[1, N]"),
    Value("op", OperandKind::kAlu, "add, average, maximum, bitwise_or or bitwise_and"),
    In("data", kSbuf, kNumbers, "[P, N]"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  if (PartitionsOf(instruction, kDst) != 1 ||
      ElementsOf(instruction, kDst) != ElementsOf(instruction, kData))
    return InvalidArgument("tensor_partition_reduce.shape: dst is [",
                           PartitionsOf(instruction, kDst), ", ", ElementsOf(instruction, kDst),
                           "], expected [1, ", ElementsOf(instruction, kData), "]");
  switch (std::get<AluOp>(instruction.operands[kOp])) {
    case AluOp::kAdd:
    case AluOp::kAverage:
    case AluOp::kMaximum:
      return OkStatus();
    case AluOp::kBitwiseOr:
    case AluOp::kBitwiseAnd:
      if (IsIntegerArithmetic(instruction)) return OkStatus();
      return InvalidArgument("tensor_partition_reduce.alu: a bitvec operator needs integer tiles");
    default:
      break;
  }
  return InvalidArgument(
      "tensor_partition_reduce.alu: ", RowOf(std::get<AluOp>(instruction.operands[kOp])).name,
      ", allowed are add, average, maximum, bitwise_or, bitwise_and");
}

double Cost(const CostInput& input) {
  // Inferred: eight cores of 16 lanes, so the 128 partitions fold in a tree of log2(128) steps.
  return EngineCycles(input, 7 * static_cast<double>(input.elements[kData]));
}

}  // namespace

constinit const InstructionDef kDef_tensor_partition_reduce{
    .mnemonic = "tensor_partition_reduce",
    .summary = "Reduce across partitions.",
    .doc =
        "dst[1, N] = reduction of data[P, N] across its partitions with op, partition by "
        "partition from the first on; average divides the sum by P.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "150 + 7 N",
    .source = "NKI 0.6 reference, nki.isa.tensor_partition_reduce",
};

}  // namespace neuron::isa
