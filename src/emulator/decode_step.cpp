#include "emulator/decode_step.h"

namespace neuron::emulator {
namespace {

// HBM bytes that a DMA moves, for the counters.
void CountHbm(Step* step) {
  for (const TileRef& tile : step->operation.tiles) {
    step->dynamic = step->dynamic || tile.dynamic;
    if (!tile.hbm) continue;
    const int64_t bytes = tile.shape.rows * tile.shape.elements * tile.shape.element_bytes;
    (tile.written ? step->hbm_written : step->hbm_read) += bytes;
  }
}

}  // namespace

StatusOr<Step> DecodeStep(const isa::Program& program, Core& core, uint32_t index) {
  const isa::Instruction& instruction = program.instructions[index];
  const DecodeInput input{program, core, Kernels(), Operands(instruction)};
  Step step;
  Operation& op = step.operation;
  op.index = index;
  op.opcode = instruction.opcode;
  NEURON_ASSIGN_OR_RETURN(step.control, DecodeControl(instruction, index));
  if (step.control.kind == StepControl::Kind::kRegisterLoad) input.AddTile(&op, "src");
  if (instruction.opcode == isa::Opcode::sendrecv) {
    input.AddTile(&op, "src");
    input.AddTile(&op, "dst");
  }
  if (step.control.kind != StepControl::Kind::kOperation) return step;
  const InstructionSemantics* semantics = SemanticsOf(instruction.opcode);
  if (semantics == nullptr)
    return Unimplemented(NameOf(op), ": the emulator has no semantics for it");
  NEURON_RETURN_IF_ERROR(semantics->decode(input, &op));
  step.dma = instruction.engine == isa::Engine::kDma;
  if (step.dma) CountHbm(&step);
  return step;
}

}  // namespace neuron::emulator
