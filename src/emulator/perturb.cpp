#include "emulator/perturb.h"

#include <cstring>

#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

// About one part in thirty-two, and never zero; one off for integers.
void Perturb(const TileShape& shape, char* row) {
  const DType dtype = shape.dtype;
  if (IsWide(dtype) || shape.element_bytes > 4) {
    for (int64_t i = 0; i < shape.elements; ++i) {
      char bytes[16];
      GatherRow(shape, row, i, 1, bytes);
      bytes[shape.element_bytes - 1] ^= 1;  // an exponent or high integer bit
      ScatterRow(shape, row, i, 1, bytes);
    }
    return;
  }
  const Domain domain = DomainOf(dtype);
  for (int64_t i = 0; i < shape.elements; ++i) {
    uint32_t word = 0;
    const void* read = ReadRow(Kernels(), domain, shape, row, i, 1, &word);
    std::memcpy(&word, read, 4);
    if (dtype == DType::kPred) {
      word = word == 0 ? 1 : 0;
    } else if (domain == Domain::kFloat) {
      float value = 0;
      std::memcpy(&value, &word, 4);
      value += value * 0x1p-5f + 0x1p-5f;
      std::memcpy(&word, &value, 4);
    } else {
      ++word;
    }
    WriteRow(Kernels(), domain, shape, row, i, 1, &word);
  }
}

}  // namespace

Status PerturbResults(const Operation& operation, const Execution& execution) {
  for (const TileRef& ref : operation.tiles) {
    if (!ref.written) continue;
    Tile tile;
    TileShape storage;
    NEURON_RETURN_IF_ERROR(execution.Resolve(operation, ref, &storage, &tile));
    for (int64_t row = 0; row < tile.rows(); ++row) Perturb(*tile.shape, tile.row(row));
  }
  return OkStatus();
}

}  // namespace neuron::emulator
