#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace dma_copy_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf | kHbm, kAnyDType, "[P, N]"),
    In("src", kSbuf | kHbm, kAnyDType, "[P, N]"),
    Optional(In("index", kSbuf, Mask({DType::kS32, DType::kU32}), "[P, 1]: row of the HBM side")),
    Optional(Value("index_side", OperandKind::kFlag, "0: src is indirect, 1: dst")),
    Optional(Value("index_step", OperandKind::kInteger, "elements that one index stands for")),
    Optional(Value("index_bound", OperandKind::kAffine, "indices are below it")),
    Optional(Value("oob_mode", OperandKind::kInteger, "0 error, 1 skip")),
    Optional(Value("priority", OperandKind::kInteger, "0 (urgent) to 3; trn3")),
    Optional(Value("dge_mode", OperandKind::kInteger, "0 unknown, 1 swdge, 2 hwdge, 3 none")),
    Optional(Value("trigger_engine", OperandKind::kInteger, "with hwdge: 2 scalar or 6 sync")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "dma_copy.shape", {kDst, kSrc}));
  const AccessPattern& dst = TileAt(instruction, kDst);
  const AccessPattern& src = TileAt(instruction, kSrc);
  if (dst.dtype != src.dtype && !(Contains(kNumbers, dst.dtype) && Contains(kNumbers, src.dtype)))
    return InvalidArgument("dma_copy.dtype: no conversion from ", DTypeName(src.dtype), " to ",
                           DTypeName(dst.dtype),
                           "; the low word of a 64-bit integer is a 32-bit pattern of step 2");
  NEURON_RETURN_IF_ERROR(
      CheckDescriptors(instruction, "dma_copy", target, kIndex, kPriority, kDgeMode));
  if (const auto* trigger = std::get_if<int64_t>(&OperandAt(instruction, kTriggerEngine))) {
    const bool may = *trigger == static_cast<int64_t>(Engine::kScalar) ||
                     *trigger == static_cast<int64_t>(Engine::kSync);
    if (!may || IntegerAt(instruction, kDgeMode) != static_cast<int64_t>(DgeMode::kHwdge))
      return InvalidArgument("dma_copy.engine: engine ", *trigger, " with dge_mode ",
                             IntegerAt(instruction, kDgeMode),
                             "; scalar and sync trigger a copy, with hwdge alone");
  }
  return CheckIndex(instruction, "dma_copy.index", kIndex,
                    IntegerAt(instruction, kIndexSide) != 0 ? dst : src);
}

double Cost(const CostInput& input) {
  return std::max(DmaNs(input, kDst, 1), DmaNs(input, kSrc, 1));
}

}  // namespace

constinit const InstructionDef kDef_dma_copy{
    .mnemonic = "dma_copy",
    .summary = "Copy between HBM and SBUF.",
    .doc =
        "dst = src, between HBM and SBUF in any combination: the same rows (partitions) and "
        "the same number of elements in each. Equal dtypes move bits; others convert as "
        "tensor_copy does.\n"
        "With `index` (a tile [P, 1] in SBUF) the HBM side is indirect: its row p starts "
        "index[p] * index_step elements beyond where the pattern alone would put it. "
        "index_side names that side (0 src, 1 dst). An index outside [0, index_bound) is an "
        "error that ends the run (oob_mode 0) or skips the row, leaving the destination as it "
        "is (oob_mode 1).\n"
        "priority, dge_mode and trigger_engine say who makes the descriptors; they do not change "
        "what is copied, and the modelled time does not depend on them yet.",
    .engines = Bit(Engine::kDma),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc =
        "max(860 ns, descriptors / 16 * (9 ns + bytes / rate)), a descriptor being one contiguous "
        "run",
    .source = "NKI 0.6 reference, nki.isa.dma_copy; row order of oob rows: ours",
};

}  // namespace neuron::isa
