#include <bit>
#include <cstdint>

#include "base/dtype.h"
#include "emulator/kernels/families.h"

#define NEURON_SIMD_SOURCE "emulator/kernels/convert.inl.h"
#include "emulator/kernels/foreach_target.h"

namespace neuron::emulator {
NEURON_DEFINE_FAMILY(Convert)
}  // namespace neuron::emulator
