#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  const auto command = static_cast<isa::ReduceCmd>(input.in.Integer("reduce_cmd"));
  const bool reduces = command != isa::ReduceCmd::kIdle || input.in.Has("reduce_res");
  RowBuilder rows(input, op, "dst", !reduces);
  auto x = rows.Load("src");
  if (input.in.Has("max_value")) {
    NEURON_ASSIGN_OR_RETURN(x, rows.Alu(isa::AluOp::kSubtract, x, rows.Scalar("max_value")));
  }
  NEURON_ASSIGN_OR_RETURN(x, rows.Activation(isa::ActivationFunction::kExp, x));
  rows.Store(x, "dst");
  if (reduces)
    NEURON_RETURN_IF_ERROR(rows.Reduce(x, isa::AluOp::kAdd, command,
                                       input.core.vector_accumulator(*input.in.Tile("dst")),
                                       "reduce_init", "reduce_res", false));
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_exponential;
const InstructionSemantics kSemantics_exponential{Decode};

}  // namespace neuron::emulator
