#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace dma_compute_operands;

constexpr OperandDef kOperands[] = {
    Tile("dst", Role::kInOut, kSbuf | kHbm, kNumbers, "[P, N]"),
    Value("op", OperandKind::kAlu, "add"),
    Optional(In("index", kSbuf, Mask({DType::kS32, DType::kU32}), "[P, 1]: row of the HBM side")),
    Optional(Value("index_side", OperandKind::kFlag, "0: src is indirect, 1: dst")),
    Optional(Value("index_step", OperandKind::kInteger, "elements that one index stands for")),
    Optional(Value("index_bound", OperandKind::kAffine, "indices are below it")),
    Optional(Value("oob_mode", OperandKind::kInteger, "0 error, 1 skip")),

    {"srcs", OperandKind::kTiles, Role::kIn, kSbuf | kHbm, kNumbers, false, "[P, N] each"},
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  const AccessPattern& dst = TileAt(instruction, kDst);
  if (std::get<AluOp>(instruction.operands[kOp]) != AluOp::kAdd)
    return InvalidArgument(
        "dma_compute.op: ", RowOf(std::get<AluOp>(instruction.operands[kOp])).name,
        ", only add is legal");
  const int64_t sources = static_cast<int64_t>(instruction.operands.size()) - kSrcs;
  const bool indirect = std::holds_alternative<AccessPattern>(instruction.operands[kIndex]);
  NEURON_RETURN_IF_ERROR(
      CheckRange("dma_compute.srcs", "the number of sources", sources, 1, indirect ? 1 : 16));
  for (size_t i = kSrcs; i < instruction.operands.size(); ++i) {
    const auto* src = std::get_if<AccessPattern>(&instruction.operands[i]);
    if (src == nullptr) return InvalidArgument("dma_compute.srcs: a source is no tile");
    if (src->partitions.max != dst.partitions.max ||
        src->MaxElementsPerPartition() != dst.MaxElementsPerPartition())
      return InvalidArgument("dma_compute.shape: a source is [", src->partitions.max, ", ",
                             src->MaxElementsPerPartition(), "], dst [", dst.partitions.max, ", ",
                             dst.MaxElementsPerPartition(), "]");
  }
  return CheckIndex(instruction, "dma_compute.index", kIndex,
                    IntegerAt(instruction, kIndexSide) != 0 ? dst : TileAt(instruction, kSrcs));
}

double Cost(const CostInput& input) {
  // Documented: before trn3 computing in the DMA path runs at half the copy rate at most.
  const double rate = input.target == Target::kTrn3 ? 1 : 0.5;
  double moved = 0;
  for (size_t i = kSrcs; i < input.elements.size(); ++i) moved += DmaNs(input, i, rate);
  const bool indirect = std::holds_alternative<AccessPattern>(input.instruction.operands[kIndex]);
  return std::max(moved, DmaNs(input, kDst, indirect ? rate / 2 : rate));
}

}  // namespace

constinit const InstructionDef kDef_dma_compute{
    .mnemonic = "dma_compute",
    .summary = "Add tiles while moving them.",
    .doc =
        "dst = sum of srcs, in fp32 (integers in 32 bits), while moving; at most 16 sources.\n"
        "With `index` (a tile [P, 1] in SBUF) it is read-modify-write with exactly one "
        "source: dst = dst + src, where one side in HBM is indirect as in dma_copy. Rows are "
        "taken in order, each finished before the next, so that equal indices accumulate "
        "(ours: public needs unique indices).",
    .engines = Bit(Engine::kDma),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "sum of the sources as dma_copy, at half rate on trn2",
    .source = "NKI 0.6 reference, nki.isa.dma_compute",
};

}  // namespace neuron::isa
