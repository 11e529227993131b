#include "emulator/random_states.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeRandomStates(input, op, "src_seeds", StateTransfer::kFromTile);
}

}  // namespace

extern const InstructionSemantics kSemantics_rand_set_state;
const InstructionSemantics kSemantics_rand_set_state{Decode};

}  // namespace neuron::emulator
