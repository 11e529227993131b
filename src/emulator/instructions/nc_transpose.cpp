#include "emulator/transpose.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeTranspose(input, "dst", "data", op);
}

}  // namespace

extern const InstructionSemantics kSemantics_nc_transpose;
const InstructionSemantics kSemantics_nc_transpose{Decode};

}  // namespace neuron::emulator
