#include "isa/gpsimd_costs.h"
#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace gpsimd_kernel_operands;

constexpr OperandDef kOperands[] = {
    Value("name", OperandKind::kText, "the kernel"),
    Value("num_outputs", OperandKind::kInteger,
          "how many tiles of the tail, from its start, are written"),
    {"arguments", OperandKind::kTiles, Role::kInOut, kSbuf | kHbm, kAnyDType, true,
     "the kernel's own"},
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  if (std::get<std::string>(instruction.operands[kName]).empty())
    return InvalidArgument("gpsimd_kernel.name: no kernel is named");
  int64_t tiles = 0;
  for (size_t i = kArguments; i < instruction.operands.size(); ++i)
    tiles += std::holds_alternative<AccessPattern>(instruction.operands[i]);
  return CheckRange("gpsimd_kernel.num_outputs", "num_outputs", IntegerAt(instruction, kNumOutputs),
                    0, tiles);
}

double Cost(const CostInput& input) {
  const TargetRow& row = RowOf(input.target);
  double elements = 0;
  std::vector<int64_t> parameters;
  for (size_t i = kArguments; i < input.elements.size(); ++i) {
    elements += static_cast<double>(input.elements[i] * input.partitions[i]);
    const Operand& operand = input.instruction.operands[i];
    if (const auto* integer = std::get_if<int64_t>(&operand)) parameters.push_back(*integer);
    if (const auto* list = std::get_if<std::vector<int64_t>>(&operand))
      parameters.insert(parameters.end(), list->begin(), list->end());
  }
  const auto& name = std::get<std::string>(input.instruction.operands[kName]);
  return row.gpsimd_kernel_launch_ns * row.gpsimd_clock_hz * 1e-9 +
         GpSimdKernelCycles(name, parameters, elements);
}

}  // namespace

constinit const InstructionDef kDef_gpsimd_kernel{
    .mnemonic = "gpsimd_kernel",
    .summary = "Run a GpSimd kernel.",
    .doc =
        "Runs the GpSimd kernel `name`: a C++ function with typed parameters, one file each, "
        "for what is irregular on the chip too (sort, top-k, random bits, 64-bit and complex "
        "arithmetic ...).\n"
        "The tail is the kernel's arguments in its own order: tiles (SBUF or HBM, which the "
        "GpSimd cores reach with their own DMA), integers, numbers, registers, register "
        "expressions. The first `num_outputs` tiles of it are written, the others are read.",
    .engines = Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "launch (1 us) + the kernel's own",
    .ours = true,
    .source = "extension: general code on GpSimd",
};

}  // namespace neuron::isa
