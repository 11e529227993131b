#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace while_begin_operands;

constexpr OperandDef kOperands[] = {
    Value("condition", OperandKind::kAffine, "register expression"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction&, Target) { return OkStatus(); }

double Cost(const CostInput&) {
  return 10;  // inferred: as register_alu, once per pass
}

}  // namespace

constinit const InstructionDef kDef_while_begin{
    .mnemonic = "while_begin",
    .summary = "Begin a conditional loop.",
    .doc =
        "Repeats the instructions up to the matching loop_end as long as condition is not 0; it is "
        "read before "
        "each pass.",
    .engines = Bit(Engine::kSync),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "10",
    .source = "NKI 0.6 reference, nki.language.while_loop",
};

}  // namespace neuron::isa
