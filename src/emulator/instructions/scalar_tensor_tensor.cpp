#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  const isa::AluOp op0 = input.in.Alu("op0");
  const isa::AluOp op1 = input.in.Alu("op1");
  RowBuilder rows(input, op, "dst");
  rows.ChooseDomain({op0, op1});
  NEURON_ASSIGN_OR_RETURN(auto x, rows.LoadOperand("data", op0));
  NEURON_ASSIGN_OR_RETURN(x, rows.Alu(op0, x, rows.Scalar("operand0"), input.in.Flag("reverse0")));
  NEURON_ASSIGN_OR_RETURN(const auto y, rows.LoadOperand("operand1", op1));
  NEURON_ASSIGN_OR_RETURN(x, rows.Alu(op1, x, y, input.in.Flag("reverse1")));
  rows.Store(x, "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_scalar_tensor_tensor;
const InstructionSemantics kSemantics_scalar_tensor_tensor{Decode};

}  // namespace neuron::emulator
