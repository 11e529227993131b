#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  RowBuilder rows(input, op, "dst");
  rows.Store(rows.Iota(IotaPattern::From(input.in)), "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_iota;
const InstructionSemantics kSemantics_iota{Decode};

}  // namespace neuron::emulator
