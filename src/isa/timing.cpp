#include "isa/timing.h"

#include <vector>

namespace neuron::isa {

double ClockHz(Engine engine, Target target) {
  const TargetRow& row = RowOf(target);
  switch (engine) {
    case Engine::kTensor:
      return row.tensor_clock_hz;
    case Engine::kScalar:
      return row.scalar_clock_hz;
    case Engine::kGpSimd:
      return row.gpsimd_clock_hz;
    case Engine::kVector:
      return row.vector_clock_hz;
    case Engine::kSync:
      return row.scalar_clock_hz;  // the sequencers share one clock
    case Engine::kDma:
    case Engine::kUnknown:
      break;
  }
  return 1e9;
}

double BusyNs(const CostInput& input) {
  const InstructionDef& def = DefOf(input.instruction.opcode);
  if (def.cost == nullptr) return 0;
  return def.cost(input) * 1e9 / ClockHz(input.instruction.engine, input.target);
}

double ArrivalNs(Engine engine, Target target) {
  const TargetRow& row = RowOf(target);
  double cycles = 0;
  switch (engine) {
    case Engine::kTensor:
      cycles = row.tensor_drain_cycles;
      break;
    case Engine::kVector:
    case Engine::kGpSimd:
      cycles = row.memory_access_cycles;
      break;
    case Engine::kScalar:
      cycles = row.scalar_latency_cycles;
      break;
    case Engine::kDma:
      return row.dma_start_ns;
    case Engine::kSync:
    case Engine::kUnknown:
      break;
  }
  return cycles * 1e9 / ClockHz(engine, target);
}

double StaticBusyNs(const Instruction& instruction, Target target) {
  std::vector<int64_t> elements;
  std::vector<int64_t> partitions;
  for (const Operand& operand : instruction.operands) {
    const auto* tile = std::get_if<AccessPattern>(&operand);
    elements.push_back(tile != nullptr ? tile->MaxElementsPerPartition() : 0);
    partitions.push_back(tile != nullptr ? tile->partitions.max : 0);
  }
  return BusyNs({instruction, target, elements, partitions});
}

}  // namespace neuron::isa
