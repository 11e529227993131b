// How busy a program keeps the engines, the HBM and the memories on chip, as text.
#pragma once

#include <string>

#include "isa/program.h"

namespace neuron::commands {

// `duration_ps`: modelled time of one execution, 0 if it depends on run-time values.
std::string UtilisationText(const isa::Program& program, int64_t duration_ps);

}  // namespace neuron::commands
