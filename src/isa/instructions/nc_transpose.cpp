#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nc_transpose_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[F, P]"),
    In("data", kOnChip, kNumbers,
       "[P, F], dst's dtype; Tensor: 2 or 4 bytes, or fp8 to 16-bit elements"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckNotInPlace(instruction, "nc_transpose.overlap", kDst, kData));
  const AccessPattern& dst = TileAt(instruction, kDst);
  const AccessPattern& data = TileAt(instruction, kData);
  const int64_t most = instruction.engine == Engine::kTensor ? 128 : 32;
  NEURON_RETURN_IF_ERROR(
      CheckRange("nc_transpose.data", "the number of partitions", data.partitions.max, 1, most));
  NEURON_RETURN_IF_ERROR(
      CheckRange("nc_transpose.data", "the free size", ElementsOf(instruction, kData), 1, most));
  if (dst.partitions.max != ElementsOf(instruction, kData) ||
      ElementsOf(instruction, kDst) != data.partitions.max)
    return InvalidArgument("nc_transpose.shape: dst is [", dst.partitions.max, ", ",
                           ElementsOf(instruction, kDst), "], expected [",
                           ElementsOf(instruction, kData), ", ", data.partitions.max, "]");
  if (instruction.engine == Engine::kTensor)
    return CheckTransposedDType("nc_transpose.dtype", dst, data);
  if (dst.dtype != data.dtype)
    return InvalidArgument("nc_transpose.dtype: dst is ", DTypeName(dst.dtype), ", data ",
                           DTypeName(data.dtype), "; a transpose moves bits");
  return OkStatus();
}

double Cost(const CostInput& input) {
  const double partitions = static_cast<double>(input.partitions[kData]);
  const double free = static_cast<double>(input.elements[kData]);
  if (input.instruction.engine != Engine::kTensor)
    return EngineCycles(input, std::max(kMinIssueCycles, free));
  const double passes = ByteSize(TileAt(input.instruction, kData).dtype) == 4 ? 2 : 1;
  return passes * std::max(partitions, std::min(kMinIssueCycles, free));
}

}  // namespace

constinit const InstructionDef kDef_nc_transpose{
    .mnemonic = "nc_transpose",
    .summary = "Write the transpose of `data` to `dst`.",
    .doc =
        "dst[F, P] = data[P, F]^T, bit exact. Tensor: P, F <= 128, SBUF to PSUM; fp8 data becomes "
        "16-bit elements whose upper byte is 0. Vector: P, F <= 32.",
    .engines = Bit(Engine::kTensor) | Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc =
        "Tensor max(P, min(64, F)), twice that for 32-bit elements; Vector 144 + max(64, F)",
    .source = "NKI 0.6 reference, nki.isa.nc_transpose",
};

}  // namespace neuron::isa
