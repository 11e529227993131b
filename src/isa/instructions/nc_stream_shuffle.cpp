#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nc_stream_shuffle_operands;

constexpr OperandDef kOperands[] = {
    InOut("dst", kOnChip, kNumbers, "[P, N]"),
    In("src", kOnChip, kNumbers, "[Q, N], dst's dtype"),
    Value("shuffle_mask", OperandKind::kIntegers, "32 rows of a quadrant, 0 to 31, or 255"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameDType(instruction, "nc_stream_shuffle.dtype", kDst, kSrc));
  NEURON_RETURN_IF_ERROR(
      CheckElements(instruction, "nc_stream_shuffle.shape", kDst, ElementsOf(instruction, kSrc)));
  const auto& mask = std::get<std::vector<int64_t>>(instruction.operands[kShuffleMask]);
  NEURON_RETURN_IF_ERROR(CheckRange("nc_stream_shuffle.mask", "the number of its entries",
                                    static_cast<int64_t>(mask.size()), 32, 32));
  const int64_t rows = PartitionsOf(instruction, kDst);
  const int64_t given = PartitionsOf(instruction, kSrc);
  for (int64_t p = 0; p < rows; ++p) {
    const int64_t from = mask[static_cast<size_t>(p % 32)];
    if (from == 255) continue;
    NEURON_RETURN_IF_ERROR(CheckRange("nc_stream_shuffle.mask", "an entry", from, 0, 31));
    if (p / 32 * 32 + from >= given)
      return InvalidArgument("nc_stream_shuffle.mask: row ", p, " of dst takes row ",
                             p / 32 * 32 + from, " of src, which has ", given);
  }
  const int64_t active = (std::max(rows, given) + 31) / 32 * 32;
  const int64_t grain = active > 64 ? 128 : active;
  for (const size_t operand : {size_t{kDst}, size_t{kSrc}})
    if (TileAt(instruction, operand).start_partition % grain != 0)
      return InvalidArgument("nc_stream_shuffle.start: ", operand == kDst ? "dst" : "src",
                             " starts at partition ", TileAt(instruction, operand).start_partition,
                             "; with ", active, " active partitions it starts at a multiple of ",
                             grain);
  return OkStatus();
}

double Cost(const CostInput& input) {
  return EngineCycles(input, std::max(kMinIssueCycles, static_cast<double>(input.elements[kDst])));
}

}  // namespace

constinit const InstructionDef kDef_nc_stream_shuffle{
    .mnemonic = "nc_stream_shuffle",
    .summary = "Permute partitions within quadrants of 32.",
    .doc =
        "Row p of dst = row shuffle_mask[p % 32] of the same quadrant of src, bits moved; 255 "
        "leaves row p of "
        "dst as it is. dst may be src.",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + max(64, N)",
    .source = "NKI 0.6 reference, nki.isa.nc_stream_shuffle",
};

}  // namespace neuron::isa
