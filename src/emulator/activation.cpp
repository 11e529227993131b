#include "emulator/activation.h"

namespace neuron::emulator {

Status DecodeActivation(const DecodeInput& input, isa::ReduceCmd command, Operation* op) {
  using isa::AluOp;
  // reduce_res reads the registers whatever the command does to them.
  const bool reduces =
      input.in.Has("reduce_res") || (command != isa::ReduceCmd::kIdle && input.in.Has("reduce_op"));
  RowBuilder rows(input, op, "dst", !reduces);
  auto x = rows.Load("data");
  // x * 1 and x + 0 are left out where they are not asked for: they would lose the sign of a zero.
  if (input.in.Has("scale")) {
    NEURON_ASSIGN_OR_RETURN(x, rows.Alu(AluOp::kMultiply, x, rows.Scalar("scale", 1)));
  }
  if (input.in.Has("bias")) {
    NEURON_ASSIGN_OR_RETURN(x, rows.Alu(AluOp::kAdd, x, rows.Scalar("bias")));
  }
  const auto function = std::get<isa::ActivationFunction>(input.in["op"]);
  if (function == isa::ActivationFunction::kPrelu) {
    NEURON_ASSIGN_OR_RETURN(const auto negative,
                            rows.Alu(AluOp::kMultiply, x, rows.Constant(input.in.Number("alpha"))));
    NEURON_ASSIGN_OR_RETURN(const auto below, rows.Alu(AluOp::kLess, x, rows.Constant(0)));
    x = rows.Select(below, negative, x);
  } else {
    NEURON_ASSIGN_OR_RETURN(x, rows.Activation(function, x));
  }
  rows.Store(x, "dst");
  if (reduces)
    NEURON_RETURN_IF_ERROR(rows.Reduce(x, input.in.Alu("reduce_op", AluOp::kAdd), command,
                                       input.core.scalar_accumulator(*input.in.Tile("dst")), "",
                                       "reduce_res", false));
  rows.Finish();
  return OkStatus();
}

}  // namespace neuron::emulator
