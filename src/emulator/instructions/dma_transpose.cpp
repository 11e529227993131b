#include "emulator/transpose.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeTranspose(input, "dst", "src", op);
}

}  // namespace

extern const InstructionSemantics kSemantics_dma_transpose;
const InstructionSemantics kSemantics_dma_transpose{Decode};

}  // namespace neuron::emulator
