#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace register_store_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kSbuf | kHbm, kNumbers | Mask({DType::kS64, DType::kU64}), "one element"),
    Value("src", OperandKind::kAffine, "register expression"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  if (PartitionsOf(instruction, kDst) == 1 && ElementsOf(instruction, kDst) == 1) return OkStatus();
  return InvalidArgument("register_store.shape: dst is [", PartitionsOf(instruction, kDst), ", ",
                         ElementsOf(instruction, kDst), "], expected one element");
}

double Cost(const CostInput& input) {
  const TargetRow& row = RowOf(input.target);
  if (TileAt(input.instruction, kDst).memory == Memory::kSbuf) return row.memory_access_cycles;
  return row.dma_start_ns * 1e-9 * row.scalar_clock_hz;  // inferred: as register_load
}

}  // namespace

constinit const InstructionDef kDef_register_store{
    .mnemonic = "register_store",
    .summary = "Store a register to memory.",
    .doc =
        "The one element of dst = src: its low bits for integers, its low 32 bits taken as fp32 "
        "for floating dtypes.",
    .engines = Bit(Engine::kSync),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "a memory access (SBUF) or a DMA round trip (HBM)",
    .source = "NKI 0.6 reference, nki.isa.register_store; 64-bit elements: nki.isa.scalar_store",
};

}  // namespace neuron::isa
