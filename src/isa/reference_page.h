// docs/reference/isa.md, made from the tables.
#pragma once

#include <string>

namespace neuron::isa {

std::string ReferencePage();

}  // namespace neuron::isa
