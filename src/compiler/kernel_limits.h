// Whether a planned kernel's tiles fit on chip, and where it is cut if they do not.
#pragma once

#include "compiler/kernel_plan.h"

namespace neuron::compiler {

// Bytes of a partition that a kernel's tiles may take.
inline constexpr int64_t kTileBytes = 160 << 10;
// Bytes of full values that are on chip at once, per element of the domain.
int64_t PeakBytes(const Plan& plan, const Kernel& kernel);

bool FitsOnChip(const Plan& plan, const Kernel& kernel);
// Where a kernel that does not fit is parted: the values that both parts need are spilled to HBM
// (or loaded once more, those that come from there). The place in the middle half of the members
// where these are the fewest bytes.
Spill CutPoint(const Plan& plan, const Kernel& kernel);

}  // namespace neuron::compiler
