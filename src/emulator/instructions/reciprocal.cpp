#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  RowBuilder rows(input, op, "dst");
  NEURON_ASSIGN_OR_RETURN(const auto result,
                          rows.Alu(isa::AluOp::kReciprocal, rows.Load("data"), {}));
  rows.Store(result, "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_reciprocal;
const InstructionSemantics kSemantics_reciprocal{Decode};

}  // namespace neuron::emulator
