#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace local_gather_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kNumbers, "[P, num_valid_indices * num_elem_per_idx]"),
    In("src_buffer", kSbuf, kNumbers, "[P, M], P a multiple of 16"),
    In("index", kSbuf, Mask({DType::kU16}), "[P, I], at most 4096 indices per core"),
    Optional(Value("num_elem_per_idx", OperandKind::kInteger, "1, 2, 4, 8, 16 or 32; 1 if absent")),
    Optional(Value("num_valid_indices", OperandKind::kInteger, "per core; 16 * I if absent")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSamePartitions(instruction, "local_gather.shape", {kSrcBuffer, kIndex, kDst}));
  NEURON_RETURN_IF_ERROR(CheckPartitionGrain(instruction, "local_gather.shape", kSrcBuffer, 16));
  NEURON_RETURN_IF_ERROR(CheckSameDType(instruction, "local_gather.dtype", kDst, kSrcBuffer));
  const int64_t each = IntegerAt(instruction, kNumElemPerIdx, 1);
  if (each < 1 || each > 32 || (each & (each - 1)) != 0)
    return InvalidArgument("local_gather.num_elem_per_idx: ", each,
                           ", allowed are 1, 2, 4, 8, 16, 32");
  const int64_t given = 16 * ElementsOf(instruction, kIndex);
  const int64_t valid = IntegerAt(instruction, kNumValidIndices, given);
  NEURON_RETURN_IF_ERROR(CheckRange("local_gather.num_valid_indices",
                                    "the number of indices per core", valid, 1,
                                    std::min<int64_t>(given, 4096)));
  return CheckElements(instruction, "local_gather.shape", kDst, valid * each);
}

double Cost(const CostInput& input) {
  // Documented: C = ((28 + t e) / (t e)) / min(4 / dtype size, e), t = 4.
  const double e = static_cast<double>(IntegerAt(input.instruction, kNumElemPerIdx, 1));
  const double size = static_cast<double>(ByteSize(TileAt(input.instruction, kDst).dtype));
  const double c = (28 + 4 * e) / (4 * e) / std::min(4 / size, e);
  return EngineCycles(input, static_cast<double>(input.elements[kDst]) / c);
}

}  // namespace

constinit const InstructionDef kDef_local_gather{
    .mnemonic = "local_gather",
    .summary = "Gather elements within groups of 16 partitions.",
    .doc =
        "Each GpSimd core serves 16 partitions by itself. Its indices are those of its 16 rows of "
        "index, column "
        "by column (down the partitions first), the first num_valid_indices of them. In every row "
        "of the group, "
        "dst[num_elem_per_idx * j + e] = src_buffer[index j + e]: an index is an element's offset "
        "in the row. "
        "Bits are moved. An index beyond the row ends the run with an error (ours; public: "
        "undefined).",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc =
        "150 + N / C, C = ((28 + 4 e) / (4 e)) / min(4 / dtype size, e), e = num_elem_per_idx",
    .source = "NKI 0.6 reference, nki.isa.local_gather",
};

}  // namespace neuron::isa
