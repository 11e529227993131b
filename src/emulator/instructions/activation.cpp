#include "emulator/activation.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeActivation(input, static_cast<isa::ReduceCmd>(input.in.Integer("reduce_cmd")), op);
}

}  // namespace

extern const InstructionSemantics kSemantics_activation;
const InstructionSemantics kSemantics_activation{Decode};

}  // namespace neuron::emulator
