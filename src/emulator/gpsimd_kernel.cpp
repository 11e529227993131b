#include "emulator/gpsimd_kernel.h"

namespace neuron::emulator {

#define NEURON_ROW(stem) \
  Status stem(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters);
namespace gpsimd_kernels {
#include "emulator_gpsimd_kernels_rows.inc"
}  // namespace gpsimd_kernels
#undef NEURON_ROW

GpSimdKernel FindGpSimdKernel(std::string_view name) {
#define NEURON_ROW(stem) \
  if (name == #stem) return gpsimd_kernels::stem;
#include "emulator_gpsimd_kernels_rows.inc"
#undef NEURON_ROW
  return nullptr;
}

}  // namespace neuron::emulator
