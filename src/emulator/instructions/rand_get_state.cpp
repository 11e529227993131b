#include "emulator/random_states.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeRandomStates(input, op, "dst", StateTransfer::kToTile);
}

}  // namespace

extern const InstructionSemantics kSemantics_rand_get_state;
const InstructionSemantics kSemantics_rand_get_state{Decode};

}  // namespace neuron::emulator
