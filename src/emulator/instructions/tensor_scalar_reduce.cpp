#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  const isa::AluOp op0 = input.in.Alu("op0");
  RowBuilder rows(input, op, "dst", false);
  NEURON_ASSIGN_OR_RETURN(const auto x, rows.Alu(op0, rows.Load("data"), rows.Scalar("operand0"),
                                                 input.in.Flag("reverse0")));
  rows.Store(x, "dst");
  const auto command = static_cast<isa::ReduceCmd>(input.in.Integer("reduce_cmd", 3));
  NEURON_RETURN_IF_ERROR(rows.Reduce(
      x, input.in.Alu("reduce_op"), command, input.core.vector_accumulator(*input.in.Tile("dst")),
      "reduce_init", "reduce_res", input.in.Flag("reduce_res_negate")));
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_tensor_scalar_reduce;
const InstructionSemantics kSemantics_tensor_scalar_reduce{Decode};

}  // namespace neuron::emulator
