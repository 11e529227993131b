// Inside of HLO text: "dimensions={0,1}" and the like.
#pragma once

#include <string>
#include <vector>

#include "hlo/module.h"

namespace neuron::hlo {

// The attributes that the opcode uses, in XLA's spelling and order.
std::vector<std::string> AttributeTexts(const Instruction& i);

}  // namespace neuron::hlo
