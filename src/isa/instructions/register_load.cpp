#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace register_load_operands;

constexpr OperandDef kOperands[] = {
    {"dst", OperandKind::kRegister, Role::kOut, 0, 0, false, "register"},
    In("src", kSbuf | kHbm, kNumbers | Mask({DType::kS64, DType::kU64}), "one element"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  if (PartitionsOf(instruction, kSrc) == 1 && ElementsOf(instruction, kSrc) == 1) return OkStatus();
  return InvalidArgument("register_load.shape: src is [", PartitionsOf(instruction, kSrc), ", ",
                         ElementsOf(instruction, kSrc), "], expected one element");
}

double Cost(const CostInput& input) {
  const TargetRow& row = RowOf(input.target);
  if (TileAt(input.instruction, kSrc).memory == Memory::kSbuf) return row.memory_access_cycles;
  return row.dma_start_ns * 1e-9 * row.scalar_clock_hz;  // inferred: a DMA round trip
}

}  // namespace

constinit const InstructionDef kDef_register_load{
    .mnemonic = "register_load",
    .summary = "Load one element into a register.",
    .doc =
        "dst = the one element of src: integers sign- or zero-extended, floating dtypes as "
        "their fp32 bits.",
    .engines = Bit(Engine::kSync),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "a memory access (SBUF) or a DMA round trip (HBM)",
    .source = "NKI 0.6 reference, nki.isa.register_load; 64-bit elements: nki.isa.scalar_load",
};

}  // namespace neuron::isa
