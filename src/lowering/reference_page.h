// docs/reference/operators.md, made from the table.
#pragma once

#include <string>

namespace neuron::lowering {

std::string ReferencePage();

}  // namespace neuron::lowering
