#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace memset_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    Scalar("value", "number or register"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  if (std::holds_alternative<AccessPattern>(instruction.operands[kValue]))
    return InvalidArgument("memset.value: a tile was given; copy it with tensor_copy");
  const auto* value = std::get_if<double>(&instruction.operands[kValue]);
  const AccessPattern& dst = TileAt(instruction, kDst);
  if (value != nullptr && !IsFloating(dst.dtype) &&
      *value != static_cast<double>(static_cast<int64_t>(*value)))
    return InvalidArgument("memset.value: ", *value, " is no integer, dst is ",
                           DTypeName(dst.dtype));
  return OkStatus();
}

double Cost(const CostInput& input) {
  const double n = static_cast<double>(input.elements[kDst]);
  // Measured: fp32 SBUF memset at two elements per lane and cycle.
  const bool sbuf = TileAt(input.instruction, kDst).memory == Memory::kSbuf;
  if (input.instruction.engine != Engine::kVector) return EngineCycles(input, n);
  // Documented: also zeros of 16 bits.
  const auto* value = std::get_if<double>(&input.instruction.operands[kValue]);
  const bool zeros =
      value != nullptr && *value == 0 && ByteSize(TileAt(input.instruction, kDst).dtype) == 2;
  return EngineCycles(input, std::max(kMinIssueCycles, sbuf || zeros ? n / 2 : n));
}

}  // namespace

constinit const InstructionDef kDef_memset{
    .mnemonic = "memset",
    .summary = "Fill a tile with one value.",
    .doc =
        "dst = value everywhere. An integer dst takes an integral value; a register is read "
        "in dst's kind (fp32 bits for floating dtypes, an integer otherwise).",
    .engines = Bit(Engine::kVector) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc =
        "144 + max(64, N / 2) in SBUF and of 16-bit zeros, else 144 + max(64, N); GpSimd 150 + N",
    .source = "NKI 0.6 reference, nki.isa.memset",
};

}  // namespace neuron::isa
