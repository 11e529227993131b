#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace topk_operands;

constexpr OperandDef kOperands[] = {
    InOut("val_dst", kSbuf, Mask({DType::kBF16}), "[P, k]"),
    InOut("idx_dst", kSbuf, Mask({DType::kU32}), "[P, k]"),
    In("src", kSbuf, Mask({DType::kBF16}), "[P, M], 16 * M at least n; P a multiple of 16"),
    Value("n", OperandKind::kInteger, "8 to 65535"),
    Optional(Value("sorted", OperandKind::kFlag, "no effect")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "topk.shape", {kValDst, kIdxDst}));
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, "topk.shape", {kValDst, kSrc}));
  NEURON_RETURN_IF_ERROR(CheckPartitionGrain(instruction, "topk.shape", kSrc, 16));
  const int64_t n = IntegerAt(instruction, kN);
  NEURON_RETURN_IF_ERROR(CheckRange("topk.n", "n", n, 8, 65535));
  NEURON_RETURN_IF_ERROR(
      CheckRange("topk.k", "k", ElementsOf(instruction, kValDst), 1, std::min<int64_t>(n, 32767)));
  return CheckRange("topk.n", "n", n, 8, 16 * ElementsOf(instruction, kSrc));
}

double Cost(const CostInput& input) {
  return 4 * static_cast<double>(IntegerAt(input.instruction, kN)) +
         static_cast<double>(input.elements[kValDst]);
}

}  // namespace

constinit const InstructionDef kDef_topk{
    .mnemonic = "topk",
    .summary = "Find the k largest elements of each group of 16 partitions.",
    .doc =
        "The rows of a group of 16 partitions hold one sequence, column by column (element j lies "
        "in row j % 16, "
        "column j / 16); its first n elements count. val_dst = the k largest, ascending (NaN "
        "counts as largest, "
        "of equal ones those with the lower index; ours), idx_dst = their indices, in the same "
        "layout: columns "
        "0 to ceil(k / 16) - 1 are written, k being the columns of val_dst. sorted asks for the "
        "order "
        "that is there anyway.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "4 n + k",
    .source = "NKI 0.7 reference, nki.isa.topk",
};

}  // namespace neuron::isa
