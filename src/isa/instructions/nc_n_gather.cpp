#include <cmath>

#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nc_n_gather_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf, kNumbers, "[P, N], data's dtype"),
    In("data", kSbuf, kNumbers, "[P, M]"),
    In("indices", kSbuf, Mask({DType::kU32}), "[P, N]"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "nc_n_gather.shape", {kDst, kIndices}));
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, "nc_n_gather.shape", {kDst, kData}));
  return CheckSameDType(instruction, "nc_n_gather.dtype", kDst, kData);
}

double Cost(const CostInput& input) {
  // Documented: one group of instructions per 512 elements; inferred: an element per cycle.
  const double n = static_cast<double>(input.elements[kDst]);
  return std::max(1.0, std::ceil(n / 512)) * RowOf(input.target).gpsimd_fixed_cycles + n;
}

}  // namespace

constinit const InstructionDef kDef_nc_n_gather{
    .mnemonic = "nc_n_gather",
    .summary = "Gather elements within each partition.",
    .doc =
        "dst[j] = data[indices[j]] in each row, bits moved; data's free dimensions count as one. "
        "An index beyond "
        "the row ends the run with an error.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "150 * ceil(N / 512) + N",
    .source = "NKI 0.6 reference, nki.isa.nc_n_gather",
};

}  // namespace neuron::isa
