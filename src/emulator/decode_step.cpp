#include "emulator/decode_step.h"

namespace neuron::emulator {
namespace {

isa::Affine AffineOf(const isa::Operand& operand) {
  if (const auto* affine = std::get_if<isa::Affine>(&operand)) return *affine;
  if (const auto* integer = std::get_if<int64_t>(&operand)) return isa::Affine(*integer);
  if (const auto* reg = std::get_if<isa::RegisterOperand>(&operand))
    return isa::Affine::Of(reg->reg);
  return {};
}

isa::Register RegisterOf(const isa::Operand& operand) {
  const auto* reg = std::get_if<isa::RegisterOperand>(&operand);
  return reg != nullptr ? reg->reg : isa::kNoRegister;
}

StatusOr<Step::Alu> AluFromName(const Operation& operation, std::string_view name) {
  constexpr std::string_view kNames[] = {"add", "sub",      "mul", "min",
                                         "max", "floordiv", "mod", "move"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<Step::Alu>(i);
  return InvalidArgument(NameOf(operation), ": operator '", name, "' is unknown");
}

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
  switch (instruction.opcode) {
    case isa::Opcode::loop_begin:
      step.kind = Step::Kind::kLoopBegin;
      step.reg = RegisterOf(input.in["register"]);
      step.a = AffineOf(input.in["begin"]);
      step.b = AffineOf(input.in["end"]);
      step.step = input.in.Integer("step", 1);
      return step;
    case isa::Opcode::loop_end:
      step.kind = Step::Kind::kLoopEnd;
      return step;
    case isa::Opcode::register_alu: {
      step.kind = Step::Kind::kRegisterAlu;
      step.reg = RegisterOf(input.in["dst"]);
      step.a = AffineOf(input.in["a"]);
      step.b = AffineOf(input.in["b"]);
      NEURON_ASSIGN_OR_RETURN(step.alu, AluFromName(op, std::get<std::string>(input.in["op"])));
      return step;
    }
    case isa::Opcode::register_load:
      step.kind = Step::Kind::kRegisterLoad;
      step.reg = RegisterOf(input.in["dst"]);
      input.AddTile(&op, "src");
      return step;
    default:
      break;
  }
  const InstructionSemantics* semantics = SemanticsOf(instruction.opcode);
  if (semantics == nullptr)
    return Unimplemented(NameOf(op), ": the emulator has no semantics for it");
  NEURON_RETURN_IF_ERROR(semantics->decode(input, &op));
  step.dma = instruction.engine == isa::Engine::kDma;
  if (step.dma) CountHbm(&step);
  return step;
}

}  // namespace neuron::emulator
