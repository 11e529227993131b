#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace loop_begin_operands;

constexpr OperandDef kOperands[] = {
    {"register", OperandKind::kRegister, Role::kOut, 0, 0, false,
     "the counter; nothing else writes it in the body"},
    Value("begin", OperandKind::kAffine, "first value"),
    Value("end", OperandKind::kAffine, "exclusive bound"),
    Value("step", OperandKind::kInteger, "positive constant"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  return CheckRange("loop_begin.step", "step", IntegerAt(instruction, kStep), 1, INT64_MAX);
}

double Cost(const CostInput&) {
  return 10;  // inferred: as register_alu, once per pass
}

}  // namespace

constinit const InstructionDef kDef_loop_begin{
    .mnemonic = "loop_begin",
    .summary = "Begin a counted loop.",
    .doc =
        "Repeats the instructions up to the matching loop_end with `register` = begin, begin "
        "+ step, ... as long as it is below end. begin and end are read once, at entry.",
    .engines = Bit(Engine::kSync),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "10",
    .source = "NKI 0.6 reference, nki.language.fori_loop",
};

}  // namespace neuron::isa
