// The data-error record s32[4] {code, op, operand, index} that a program writes (docs/design,
// contracts.md): what it says as a Status.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"

namespace neuron::runtime {

using ErrorRecord = std::span<const int32_t, 4>;

// OK for code 0. `op` names the launch, record[1] the op inside it (SetOpNamer), which is said as
// well where it is another: in a compiled graph.
Status FromErrorRecord(ErrorRecord record, const char* op);

}  // namespace neuron::runtime
