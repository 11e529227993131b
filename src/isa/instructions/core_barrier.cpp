#include "isa/row.h"
#include "isa/timing.h"

namespace neuron::isa {
namespace {

using namespace core_barrier_operands;

constexpr OperandDef kOperands[] = {
    Tile("data", Role::kInOut, kHbm, kAnyDType, "what the barrier is about"),
    Value("cores", OperandKind::kIntegers, "0, 1"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  if (std::get<std::vector<int64_t>>(instruction.operands[kCores]) == std::vector<int64_t>{0, 1})
    return OkStatus();
  return InvalidArgument("core_barrier.cores: only (0, 1) is legal");
}

double Cost(const CostInput& input) {
  // Inferred: one semaphore there, one back.
  return 2e-9 * RowOf(input.target).semaphore_ns * ClockHz(input.instruction.engine, input.target);
}

}  // namespace

constinit const InstructionDef kDef_core_barrier{
    .mnemonic = "core_barrier",
    .summary = "Wait for the other core of a logical core.",
    .doc =
        "Neither core goes on before both came here; what they wrote to data in HBM is there "
        "afterwards.",
    .engines = Bit(Engine::kGpSimd) | Bit(Engine::kSync) | Bit(Engine::kVector) |
               Bit(Engine::kScalar) | Bit(Engine::kTensor),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "two semaphore latencies",
    .source = "NKI 0.6 reference, nki.isa.core_barrier",
};

}  // namespace neuron::isa
