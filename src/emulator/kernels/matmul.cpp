#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "emulator/kernels/families.h"

#define NEURON_SIMD_SOURCE "emulator/kernels/matmul.inl.h"
#include "emulator/kernels/foreach_target.h"

namespace neuron::emulator {
NEURON_DEFINE_FAMILY(Matmul)
}  // namespace neuron::emulator
