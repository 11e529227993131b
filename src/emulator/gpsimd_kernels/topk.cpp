// topk: the k largest or smallest of each row, best first, with their positions.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "emulator/wide/blocks.h"
#include "emulator/wide/checks.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "topk";

uint64_t Ordered(double x) {  // NaN above everything
  if (x != x) return ~uint64_t{0};
  if (x == 0) x = 0;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  return bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
}

void LoadKeys(const KernelTensor& tile, int64_t row, std::vector<uint64_t>& keys) {
  int64_t offsets[wide::kBlock];
  alignas(16) std::byte block[wide::kBlock * wide::kElementBytes];
  const int64_t length = static_cast<int64_t>(keys.size());
  for (int64_t begin = 0; begin < length; begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, length - begin));
    for (int i = 0; i < n; ++i) offsets[i] = row * length + begin + i;
    wide::Load(tile.dtype, tile.data, offsets, n, block);
    for (int i = 0; i < n; ++i) {
      uint64_t& key = keys[static_cast<size_t>(begin + i)];
      switch (wide::KindOf(tile.dtype)) {
        case wide::Kind::kFloat:
          key = Ordered(reinterpret_cast<float*>(block)[i]);
          break;
        case wide::Kind::kDouble:
          key = Ordered(reinterpret_cast<double*>(block)[i]);
          break;
        default: {
          const uint64_t bits = static_cast<uint64_t>(reinterpret_cast<int64_t*>(block)[i]);
          key = tile.dtype == DType::kU64 ? bits : bits ^ (uint64_t{1} << 63);
        }
      }
    }
  }
}

}  // namespace

Status topk(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::TopkParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3));
  const KernelTensor &values = tiles[0], &indices = tiles[1], &x = tiles[2];
  NEURON_RETURN_IF_ERROR(wide::ExpectRange(kName, "k", p.k, 0, p.length));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 0, wide::Volume({p.rows, p.k})));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 1, wide::Volume({p.rows, p.k})));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 2, wide::Volume({p.rows, p.length})));
  NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 0, x.dtype));
  if (!IsInteger(indices.dtype) || IsComplex(x.dtype))
    return InvalidArgument("gpsimd_kernel topk: values of ", DTypeName(x.dtype),
                           " with indices of ", DTypeName(indices.dtype));
  std::vector<uint64_t> keys(static_cast<size_t>(p.length));
  std::vector<int64_t> order(static_cast<size_t>(p.length));
  const size_t bytes = static_cast<size_t>(ByteSize(x.dtype));
  for (int64_t row = 0; row < p.rows; ++row) {
    LoadKeys(x, row, keys);
    if (p.largest)
      for (uint64_t& key : keys) key = ~key;
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + p.k, order.end(), [&](int64_t a, int64_t b) {
      const uint64_t left = keys[static_cast<size_t>(a)], right = keys[static_cast<size_t>(b)];
      return left != right ? left < right : a < b;
    });
    for (int64_t i = 0; i < p.k; ++i) {
      const int64_t at = row * p.k + i;
      const int64_t from = order[static_cast<size_t>(i)];
      std::memcpy(values.data + static_cast<size_t>(at) * bytes,
                  x.data + static_cast<size_t>(row * p.length + from) * bytes, bytes);
      wide::Store(indices.dtype, indices.data, &at, 1, &from);
    }
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
