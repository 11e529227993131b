// What HLO has and programs do not: the words that say why and what to do.
#pragma once

#include <span>
#include <string>

#include "hlo/module.h"

namespace neuron::compiler {

// "; why and what to do" for an instruction that no kernel computes; "" if there is no such word.
std::string WhyRefused(const hlo::Instruction& x);

// Opcodes of which no instruction compiles, whatever its shapes.
bool IsRefused(hlo::Opcode opcode);

// Custom calls that say how their operand is sharded: one core has all of it.
bool IsPassThrough(const hlo::Instruction& call);

}  // namespace neuron::compiler
