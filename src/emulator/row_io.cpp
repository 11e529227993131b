#include "emulator/row_io.h"

#include <algorithm>
#include <cstring>

namespace neuron::emulator {
namespace {

int Index(DType dtype) { return static_cast<int>(dtype == DType::kTF32 ? DType::kF32 : dtype); }

// Bits are values: fp32 in the float domain, 32-bit integers in the others.
bool Native(Domain domain, DType dtype) {
  if (domain == Domain::kFloat) return Index(dtype) == Index(DType::kF32);
  return dtype == DType::kS32 || dtype == DType::kU32;
}

char* RawBuffer() {
  alignas(64) thread_local char buffer[kRowIoMax * 16];
  return buffer;
}

}  // namespace

Domain DomainOf(DType dtype) {
  if (dtype == DType::kU32) return Domain::kUnsigned;
  return IsInteger(dtype) || dtype == DType::kPred ? Domain::kSigned : Domain::kFloat;
}

const void* ReadRow(const KernelTable& kernels, Domain domain, const TileShape& shape,
                    const char* row, int64_t first, int64_t n, void* out) {
  const bool native = Native(domain, shape.dtype);
  const char* from = row + first * shape.element_bytes;
  if (native && shape.contiguous()) return from;
  if (native) {
    GatherRow(shape, row, first, n, out);
    return out;
  }
  if (!shape.contiguous()) {
    GatherRow(shape, row, first, n, RawBuffer());
    from = RawBuffer();
  }
  kernels.load[static_cast<int>(domain)][Index(shape.dtype)](out, from, n);
  return out;
}

void WriteRow(const KernelTable& kernels, Domain domain, const TileShape& shape, char* row,
              int64_t first, int64_t n, const void* values) {
  char* to = row + first * shape.element_bytes;
  const bool native = Native(domain, shape.dtype);
  if (shape.contiguous()) {
    if (native) {
      std::memmove(to, values, n * 4);
    } else {
      kernels.store[static_cast<int>(domain)][Index(shape.dtype)](to, values, n);
    }
    return;
  }
  if (!native) {
    kernels.store[static_cast<int>(domain)][Index(shape.dtype)](RawBuffer(), values, n);
    values = RawBuffer();
  }
  ScatterRow(shape, row, first, n, values);
}

uint32_t* ReadWholeRow(const KernelTable& kernels, Domain domain, const Tile& tile, int64_t row,
                       std::vector<uint32_t>* buffer) {
  buffer->resize(static_cast<size_t>(tile.elements()));
  for (int64_t first = 0; first < tile.elements(); first += kRowIoMax) {
    const int64_t n = std::min(kRowIoMax, tile.elements() - first);
    uint32_t* to = buffer->data() + first;
    const auto* values = static_cast<const uint32_t*>(
        ReadRow(kernels, domain, *tile.shape, tile.row(row), first, n, to));
    if (values != to) std::copy_n(values, n, to);
  }
  return buffer->data();
}

void WriteWholeRow(const KernelTable& kernels, Domain domain, const Tile& tile, int64_t row,
                   const uint32_t* values) {
  for (int64_t first = 0; first < tile.elements(); first += kRowIoMax)
    WriteRow(kernels, domain, *tile.shape, tile.row(row), first,
             std::min(kRowIoMax, tile.elements() - first), values + first);
}

}  // namespace neuron::emulator
