#include <bit>
#include <cmath>
#include <cstdint>

#include "emulator/kernels/families.h"

#define NEURON_SIMD_SOURCE "emulator/kernels/reduce.inl.h"
#include "emulator/kernels/foreach_target.h"

namespace neuron::emulator {
NEURON_DEFINE_FAMILY(Reduce)
}  // namespace neuron::emulator
