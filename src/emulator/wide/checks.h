// What every GpSimd kernel verifies of its tiles before it touches them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "emulator/gpsimd_kernel.h"

namespace neuron::emulator::wide {

Status ExpectTiles(std::string_view kernel, std::span<const KernelTensor> tiles, size_t count);
// Tile `i` holds at least `elements`; a negative number means that they overflowed.
Status ExpectElements(std::string_view kernel, std::span<const KernelTensor> tiles, size_t i,
                      int64_t elements);
Status ExpectDType(std::string_view kernel, std::span<const KernelTensor> tiles, size_t i,
                   DType dtype);
// Integer parameters that must lie in [low, high].
Status ExpectRange(std::string_view kernel, std::string_view what, int64_t value, int64_t low,
                   int64_t high);

}  // namespace neuron::emulator::wide
