#include "emulator/activation.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeActivation(input, isa::ReduceCmd::kResetReduce, op);
}

}  // namespace

extern const InstructionSemantics kSemantics_activation_reduce;
const InstructionSemantics kSemantics_activation_reduce{Decode};

}  // namespace neuron::emulator
