// trn2: an instruction of the Tensor engine writes within one PSUM bank.
#pragma once

#include "isa/instruction.h"

namespace neuron::isa {

inline bool WritesWithinBank(Engine engine, Target target) {
  return engine == Engine::kTensor && target == Target::kTrn2;
}

}  // namespace neuron::isa
