#include "emulator/wide/checks.h"

namespace neuron::emulator::wide {

Status ExpectTiles(std::string_view kernel, std::span<const KernelTensor> tiles, size_t count) {
  if (tiles.size() == count) return OkStatus();
  return InvalidArgument("gpsimd_kernel ", kernel, ": takes ", count, " tiles, got ", tiles.size());
}

Status ExpectElements(std::string_view kernel, std::span<const KernelTensor> tiles, size_t i,
                      int64_t elements) {
  if (elements >= 0 && tiles[i].elements >= elements) return OkStatus();
  return OutOfRange("gpsimd_kernel ", kernel, ": tile ", i, " has ", tiles[i].elements,
                    " elements, its parameters reach ", elements);
}

Status ExpectDType(std::string_view kernel, std::span<const KernelTensor> tiles, size_t i,
                   DType dtype) {
  if (tiles[i].dtype == dtype) return OkStatus();
  return InvalidArgument("gpsimd_kernel ", kernel, ": tile ", i, " is ", DTypeName(tiles[i].dtype),
                         ", expected ", DTypeName(dtype));
}

Status ExpectRange(std::string_view kernel, std::string_view what, int64_t value, int64_t low,
                   int64_t high) {
  if (value >= low && value <= high) return OkStatus();
  return InvalidArgument("gpsimd_kernel ", kernel, ": ", what, " is ", value, ", expected ", low,
                         " to ", high);
}

}  // namespace neuron::emulator::wide
