#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace dma_transpose_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kAnyDType, "[F, R]"),
    In("src", kSbuf | kHbm, kAnyDType, "[R, F], dst's dtype, 2 or 4 bytes"),
    Optional(In("index", kSbuf, Mask({DType::kU32}), "[R, 1]: which row of src")),
    Optional(Value("index_side", OperandKind::kFlag, "0: src is indirect")),
    Optional(Value("index_step", OperandKind::kInteger, "elements that one index stands for")),
    Optional(Value("index_bound", OperandKind::kAffine, "indices are below it")),
    Optional(Value("oob_mode", OperandKind::kInteger, "0 error, 1 skip")),
    Optional(Value("priority", OperandKind::kInteger, "0 (urgent) to 3; trn3")),
    Optional(Value("dge_mode", OperandKind::kInteger, "0 unknown, 1 swdge, 2 hwdge, 3 none")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target target) {
  const AccessPattern& dst = TileAt(instruction, kDst);
  const AccessPattern& src = TileAt(instruction, kSrc);
  if (dst.partitions.max != ElementsOf(instruction, kSrc) ||
      ElementsOf(instruction, kDst) != src.partitions.max)
    return InvalidArgument("dma_transpose.shape: dst is [", dst.partitions.max, ", ",
                           ElementsOf(instruction, kDst), "], expected [",
                           ElementsOf(instruction, kSrc), ", ", src.partitions.max, "]");
  const int64_t size = ByteSize(src.dtype);
  if (dst.dtype != src.dtype || (size != 2 && size != 4))
    return InvalidArgument("dma_transpose.dtype: dst and src need one dtype of 2 or 4 bytes, got ",
                           DTypeName(dst.dtype), " and ", DTypeName(src.dtype));
  NEURON_RETURN_IF_ERROR(CheckNotInPlace(instruction, "dma_transpose.overlap", kDst, kSrc));
  NEURON_RETURN_IF_ERROR(
      CheckDescriptors(instruction, "dma_transpose", target, kIndex, kPriority, kDgeMode));
  if (IntegerAt(instruction, kDgeMode) == static_cast<int64_t>(DgeMode::kHwdge)) {
    const int rows = src.partitions.max;
    if (size != 2 || rows > 16 || (rows & (rows - 1)) != 0)
      return InvalidArgument("dma_transpose.hwdge: src is ", DTypeName(src.dtype), " with ", rows,
                             " rows; hwdge transposes 2-byte elements, 1, 2, 4, 8 or 16 rows of "
                             "them");
  }
  if (std::holds_alternative<AccessPattern>(OperandAt(instruction, kIndex))) {
    const int rows = src.partitions.max;
    if (rows % 16 != 0 || rows > kPartitions)
      return InvalidArgument("dma_transpose.index: ", rows,
                             " indices, expected 16 to 128 in multiples of 16");
    if (IntegerAt(instruction, kIndexSide) != 0)
      return InvalidArgument("dma_transpose.index: dst cannot be indirect");
  }
  return CheckIndex(instruction, "dma_transpose.index", kIndex, src);
}

double Cost(const CostInput& input) {
  // Documented: at most 90 % of the copy rate from HBM, 50 % from SBUF.
  const bool hbm = TileAt(input.instruction, kSrc).memory == Memory::kHbm;
  return DmaNs(input, kDst, hbm ? 0.9 : 0.5);
}

}  // namespace

constinit const InstructionDef kDef_dma_transpose{
    .mnemonic = "dma_transpose",
    .summary = "Transpose while moving to SBUF.",
    .doc =
        "dst[F, R] = src[R, F]^T, bit exact: row r of src (its elements in order) becomes "
        "column r of dst. R is src's row count (any number in HBM), F at most 128.\n"
        "With `index` column r is row index[r] of src in HBM, as in dma_copy; an index that "
        "oob_mode 1 skips leaves its column as it is.",
    .engines = Bit(Engine::kDma),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "as dma_copy, at 90 % of its rate from HBM, 50 % from SBUF",
    .source = "NKI 0.6 reference, nki.isa.dma_transpose",
};

}  // namespace neuron::isa
