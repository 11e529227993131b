#include "emulator/decoder.h"
#include "emulator/row_program.h"
#include "emulator/strided_copy.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  if (input.in.Tile("dst")->dtype == input.in.Tile("src")->dtype) return DecodeCopy(input, op);
  RowBuilder rows(input, op, "dst");
  rows.ChooseDomain();
  rows.Store(rows.Load("src"), "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_tensor_copy;
const InstructionSemantics kSemantics_tensor_copy{Decode};

}  // namespace neuron::emulator
