// Padding after the end of a flat value (lowering/strided.h) that nobody reads: the value's buffer,
// as if it went on there.
#pragma once

#include <optional>

#include "compiler/live_values.h"
#include "compiler/views.h"

namespace neuron::compiler {

// The view for the pad `x` of `operand`; nullopt if it is another kind of padding, or some reader
// of `live` reads it.
std::optional<View> PaddedView(const hlo::Instruction& x, const View& operand,
                               const LiveValues& live);

}  // namespace neuron::compiler
