#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  using isa::AluOp;
  const auto command = static_cast<isa::ReduceCmd>(input.in.Integer("reduce_cmd"));
  const bool reduces = command != isa::ReduceCmd::kIdle || input.in.Has("reduce_res");
  RowBuilder rows(input, op, "dst", !reduces);
  auto x = rows.Load("data");
  if (const AluOp op0 = input.in.Alu("op0"); op0 != AluOp::kBypass) {
    NEURON_ASSIGN_OR_RETURN(x, rows.Alu(op0, x, rows.Scalar("imm0"), input.in.Flag("reverse0")));
  }
  if (const AluOp op1 = input.in.Alu("op1"); op1 != AluOp::kBypass) {
    NEURON_ASSIGN_OR_RETURN(x, rows.Alu(op1, x, rows.Scalar("imm1"), input.in.Flag("reverse1")));
  }
  const auto function = std::get<isa::ActivationFunction>(input.in["op"]);
  if (function == isa::ActivationFunction::kPrelu) {
    NEURON_ASSIGN_OR_RETURN(const auto negative,
                            rows.Alu(AluOp::kMultiply, x, rows.Scalar("relu_param")));
    NEURON_ASSIGN_OR_RETURN(const auto below, rows.Alu(AluOp::kLess, x, rows.Constant(0)));
    x = rows.Select(below, negative, x);
  } else {
    NEURON_ASSIGN_OR_RETURN(x, rows.Activation(function, x));
  }
  rows.Store(x, "dst");
  if (reduces)
    NEURON_RETURN_IF_ERROR(rows.Reduce(x, input.in.Alu("reduce_op"), command,
                                       input.core.scalar_accumulator(*input.in.Tile("dst")), "",
                                       "reduce_res", false));
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_activate2;
const InstructionSemantics kSemantics_activate2{Decode};

}  // namespace neuron::emulator
