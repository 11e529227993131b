// The data-error record s32[7] {code, op, operand, index's low word, its high word, the dimension
// indexed or -1, its size} that a program writes (docs/design, contracts.md): what it says as a
// Status.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"

namespace neuron::runtime {

using ErrorRecord = std::array<int32_t, 7>;

// OK for code 0. `op` names the launch, record[1] the op inside it (SetOpNamer), which is said as
// well where it is another: in a compiled graph.
Status FromErrorRecord(const ErrorRecord& record, const char* op);

}  // namespace neuron::runtime
