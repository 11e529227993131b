#include "emulator/step.h"

#include <algorithm>
#include <string_view>

#include "emulator/operands.h"

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

}  // namespace

StatusOr<int64_t> StepControl::Compute(const int64_t* registers) const {
  const int64_t x = a.Evaluate(registers);
  const int64_t y = b.Evaluate(registers);
  const auto wrapped = [](uint64_t bits) { return static_cast<int64_t>(bits); };
  const auto ux = static_cast<uint64_t>(x);
  const auto uy = static_cast<uint64_t>(y);
  switch (alu) {
    case Alu::kAdd:
      return wrapped(ux + uy);
    case Alu::kSub:
      return wrapped(ux - uy);
    case Alu::kMul:
      return wrapped(ux * uy);
    case Alu::kMin:
      return std::min(x, y);
    case Alu::kMax:
      return std::max(x, y);
    case Alu::kMove:
      return x;
    case Alu::kFloordiv:
    case Alu::kMod:
      break;
  }
  if (y == 0) return InvalidArgument("division by zero");
  if (y == -1) return alu == Alu::kMod ? int64_t{0} : wrapped(0 - ux);
  const int64_t quotient = x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  return alu == Alu::kFloordiv ? quotient : x - quotient * y;
}

StatusOr<StepControl> DecodeControl(const isa::Instruction& instruction, uint32_t index) {
  const Operands in(instruction);
  StepControl control;
  switch (instruction.opcode) {
    case isa::Opcode::loop_begin:
      control.kind = StepControl::Kind::kLoopBegin;
      control.reg = RegisterOf(in["register"]);
      control.a = AffineOf(in["begin"]);
      control.b = AffineOf(in["end"]);
      control.step = in.Integer("step", 1);
      return control;
    case isa::Opcode::while_begin:
      control.kind = StepControl::Kind::kWhileBegin;
      control.a = AffineOf(in["condition"]);
      return control;
    case isa::Opcode::sendrecv:
    case isa::Opcode::core_barrier:
      control.kind = StepControl::Kind::kMeeting;
      return control;
    case isa::Opcode::loop_end:
      control.kind = StepControl::Kind::kLoopEnd;
      return control;
    case isa::Opcode::register_load:
      control.kind = StepControl::Kind::kRegisterLoad;
      control.reg = RegisterOf(in["dst"]);
      return control;
    case isa::Opcode::register_alu:
      break;
    default:
      return control;
  }
  control.kind = StepControl::Kind::kRegisterAlu;
  control.reg = RegisterOf(in["dst"]);
  control.a = AffineOf(in["a"]);
  control.b = AffineOf(in["b"]);
  constexpr std::string_view kNames[] = {"add", "sub",      "mul", "min",
                                         "max", "floordiv", "mod", "move"};
  const auto& name = std::get<std::string>(in["op"]);
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] != name) continue;
    control.alu = static_cast<StepControl::Alu>(i);
    return control;
  }
  return InvalidArgument("register_alu (instruction ", index, "): operator '", name,
                         "' is unknown");
}

}  // namespace neuron::emulator
