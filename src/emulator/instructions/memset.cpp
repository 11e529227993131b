#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  RowBuilder rows(input, op, "dst");
  rows.ChooseDomain();
  rows.Store(rows.Scalar("value"), "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_memset;
const InstructionSemantics kSemantics_memset{Decode};

}  // namespace neuron::emulator
