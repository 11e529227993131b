#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_reduce_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, kept elements]"),
    Value("op", OperandKind::kAlu, "reduction operator"),
    In("data", kOnChip, kNumbers, "[P, kept..., reduced...]"),
    Value("num_reduced", OperandKind::kInteger, "how many trailing free dimensions are reduced"),
    Optional(Value("negate", OperandKind::kFlag, "1: dst = -result")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  const AccessPattern& data = TileAt(instruction, kData);
  const int64_t reduced = IntegerAt(instruction, kNumReduced);
  NEURON_RETURN_IF_ERROR(
      CheckRange("tensor_reduce.axes", "num_reduced", reduced, 1, data.num_dims));
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, "tensor_reduce.shape", {kDst, kData}));
  int64_t kept = 1;
  for (int i = 0; i < data.num_dims - reduced; ++i) kept *= data.dims[i].count.max;
  if (ElementsOf(instruction, kDst) != kept)
    return InvalidArgument("tensor_reduce.shape: dst has ", ElementsOf(instruction, kDst),
                           " elements per partition, the dimensions kept have ", kept);
  NEURON_RETURN_IF_ERROR(CheckReductionOp(instruction, "tensor_reduce.alu", kOp));
  NEURON_RETURN_IF_ERROR(CheckAlu(instruction, "tensor_reduce.alu", {kOp}));
  if (IntegerAt(instruction, kNegate) != 0 &&
      RowOf(std::get<AluOp>(instruction.operands[kOp])).bitvec)
    return InvalidArgument("tensor_reduce.negate: a bitvec result has no sign");
  return OkStatus();
}

double Cost(const CostInput& input) {
  const AccessPattern& dst = TileAt(input.instruction, kDst);
  const AccessPattern& data = TileAt(input.instruction, kData);
  const AluOp op = std::get<AluOp>(input.instruction.operands[kOp]);
  const bool fast = dst.dtype == DType::kBF16 && data.dtype == DType::kBF16 &&
                    (op == AluOp::kAdd || op == AluOp::kMaximum);
  return EngineCycles(input, static_cast<double>(input.elements[kData]) / (fast ? 2 : 1));
}

}  // namespace

constinit const InstructionDef kDef_tensor_reduce{
    .mnemonic = "tensor_reduce",
    .summary = "Reduce trailing free dimensions.",
    .doc =
        "dst[P, kept] = reduction of data over its last num_reduced free dimensions, with op. "
        "data's free dimensions before them are kept and walk dst in order. negate turns the "
        "sign of an arithmetic result. A row (the reduced elements in row-major order) is "
        "reduced in the fixed order of docs/design: chunks of 4096 elements, 16 lanes, a "
        "fixed tree; so bits depend on nothing else.",
    .engines = Bit(Engine::kVector) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + N, 144 + N / 2 for bf16 add and maximum",
    .source = "NKI 0.6 reference, nki.isa.tensor_reduce",
};

}  // namespace neuron::isa
