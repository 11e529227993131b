#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace register_alu_operands;

constexpr OperandDef kOperands[] = {
    {"dst", OperandKind::kRegister, Role::kOut, 0, 0, false, "register"},
    Value("op", OperandKind::kText, "add, sub, mul, min, max, floordiv, mod or move"),
    Value("a", OperandKind::kAffine, "first operand"),
    Optional(Value("b", OperandKind::kAffine, "second operand; absent with move")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  const std::string& op = std::get<std::string>(instruction.operands[kOp]);
  for (const std::string_view legal : {"add", "sub", "mul", "min", "max", "floordiv", "mod"})
    if (op == legal) {
      if (std::holds_alternative<Affine>(OperandAt(instruction, kB))) return OkStatus();
      return InvalidArgument("register_alu.operand: ", op, " needs b");
    }
  if (op == "move") return OkStatus();
  return InvalidArgument("register_alu.op: \"", op,
                         "\", known are add, sub, mul, min, max, floordiv, mod, move");
}

double Cost(const CostInput&) {
  return 10;  // inferred: a scalar instruction of a sequencer, no figure is public
}

}  // namespace

constinit const InstructionDef kDef_register_alu{
    .mnemonic = "register_alu",
    .summary = "Compute on registers.",
    .doc =
        "dst = a op b on 64-bit integers, by a sequencer: add, sub, mul, min, max, floordiv "
        "and mod (toward minus infinity; a divisor of 0 ends the run with an error), move "
        "(a).",
    .engines = Bit(Engine::kSync),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "10",
    .ours = true,
    .source = "extension: register arithmetic of sequencers",
};

}  // namespace neuron::isa
