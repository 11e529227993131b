#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace dma_transpose_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kAnyDType, "[F, R]"),
    In("src", kSbuf | kHbm, kAnyDType, "[R, F], dst's dtype, 2 or 4 bytes"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
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
  return OkStatus();
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
        "column r of dst. R is src's row count (any number in HBM), F at most 128.",
    .engines = Bit(Engine::kDma),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "as dma_copy, at 90 % of its rate from HBM, 50 % from SBUF",
    .source = "NKI 0.6 reference, nki.isa.dma_transpose",
};

}  // namespace neuron::isa
