// Whether a planned kernel's tiles fit on chip, and where it is cut if they do not.
#pragma once

#include "compiler/kernel_plan.h"

namespace neuron::compiler {

bool FitsOnChip(const Plan& plan, const Kernel& kernel);
// Id of the member that is to open the second half.
int64_t CutPoint(const Kernel& kernel);

}  // namespace neuron::compiler
