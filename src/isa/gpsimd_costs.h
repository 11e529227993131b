// How long GpSimd kernels take: a formula per kernel over its parameters, since their work is not
// proportional to the elements they touch.
#pragma once

#include <span>
#include <string_view>

#include "isa/instruction.h"

namespace neuron::isa {

// Busy cycles of the GpSimd engine beside the launch. `elements` is the sum over the kernel's
// tiles. A kernel without a formula, or parameters it does not declare, cost their elements.
//
// Grade: inferred. The chip has 8 cores of 16 lanes (documented, Trainium architecture guides), a
// lane handles a 32-bit element per cycle; a 64-bit operation is counted as four.
double GpSimdKernelCycles(std::string_view kernel, std::span<const int64_t> parameters,
                          double elements);

}  // namespace neuron::isa
