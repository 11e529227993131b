#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  const isa::AluOp alu = input.in.Alu("op");
  RowBuilder rows(input, op, "dst");
  rows.ChooseDomain({alu});
  NEURON_ASSIGN_OR_RETURN(const auto a, rows.LoadOperand("data1", alu));
  NEURON_ASSIGN_OR_RETURN(const auto b, rows.LoadOperand("data2", alu));
  NEURON_ASSIGN_OR_RETURN(const auto result, rows.Alu(alu, a, b));
  rows.Store(result, "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_tensor_tensor;
const InstructionSemantics kSemantics_tensor_tensor{Decode};

}  // namespace neuron::emulator
