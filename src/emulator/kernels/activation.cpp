#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "emulator/kernels/families.h"
#include "emulator/kernels/special.h"

#define NEURON_SIMD_SOURCE "emulator/kernels/activation.inl.h"
#include "emulator/kernels/foreach_target.h"

namespace neuron::emulator {
NEURON_DEFINE_FAMILY(Activation)
}  // namespace neuron::emulator
