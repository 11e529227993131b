// wide_dot: dot products of integers, f64 and complex numbers, exact for integers.
#include <algorithm>
#include <vector>

#include "emulator/wide/checks.h"
#include "emulator/wide/dispatch.h"
#include "emulator/wide/evaluator.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "wide_dot";

// All elements of a view in row-major order, converted to `to`, in its representation.
template <typename T>
std::vector<T> Fetch(const KernelTensor& tile, const std::vector<int64_t>& dims,
                     const isa::StridedView& view, DType to) {
  const wide::StridedWalk walk(dims);
  std::vector<T> out(static_cast<size_t>(walk.size()));
  int64_t offsets[wide::kBlock];
  alignas(16) std::byte block[wide::kBlock * wide::kElementBytes];
  isa::WideInstruction convert;
  convert.dtype = to;
  for (int64_t begin = 0; begin < walk.size(); begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, walk.size() - begin));
    walk.Offsets(view.offset, view.strides, begin, n, offsets);
    wide::Load(tile.dtype, tile.data, offsets, n, block);
    wide::RunConversion({.instruction = &convert,
                         .in = tile.dtype,
                         .operands = {block},
                         .out = &out[static_cast<size_t>(begin)],
                         .n = n});
  }
  return out;
}

template <typename T>
T Multiply(T a, T b) {
  return a * b;
}
template <>
int64_t Multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename T>
std::complex<T> Multiply(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename T>
T Add(T a, T b) {
  return a + b;
}
template <>
int64_t Add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

struct Extents {
  int64_t batch, m, n, k;
};

template <typename T>
void Run(const isa::WideDotParameters& p, const Extents& e, std::span<const KernelTensor> tiles) {
  const auto join = [](auto... lists) {
    std::vector<int64_t> all;
    (all.insert(all.end(), lists.begin(), lists.end()), ...);
    return all;
  };
  const DType dtype = tiles[0].dtype;
  const std::vector<T> lhs = Fetch<T>(tiles[1], join(p.batch, p.m, p.k), p.lhs, dtype);
  // rhs as [batch, k, n], so that the inner loop runs along a row of the result.
  isa::StridedView view = p.rhs;
  const auto b = static_cast<std::ptrdiff_t>(p.batch.size());
  const auto n = static_cast<std::ptrdiff_t>(p.n.size());
  std::rotate(view.strides.begin() + b, view.strides.begin() + b + n, view.strides.end());
  const std::vector<T> rhs = Fetch<T>(tiles[2], join(p.batch, p.k, p.n), view, dtype);

  std::vector<T> row(static_cast<size_t>(e.n));
  std::vector<int64_t> offsets(static_cast<size_t>(e.n));
  for (int64_t r = 0; r < e.batch * e.m; ++r) {
    std::fill(row.begin(), row.end(), T(0));
    const T* right = &rhs.data()[r / e.m * e.k * e.n];
    for (int64_t k = 0; k < e.k; ++k, right += e.n) {
      const T left = lhs[static_cast<size_t>(r * e.k + k)];
      for (int64_t j = 0; j < e.n; ++j) {
        T& sum = row[static_cast<size_t>(j)];
        sum = Add(sum, Multiply(left, right[j]));
      }
    }
    if constexpr (std::is_same_v<T, float>)
      for (T& sum : row) sum = wide::Round(dtype, sum);
    for (int64_t j = 0; j < e.n; ++j) offsets[static_cast<size_t>(j)] = r * e.n + j;
    wide::Store(dtype, tiles[0].data, offsets.data(), static_cast<int>(e.n), row.data());
  }
}

}  // namespace

Status wide_dot(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::WideDotParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3));
  const Extents e{wide::Volume(p.batch), wide::Volume(p.m), wide::Volume(p.n), wide::Volume(p.k)};
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 0, wide::Volume({e.batch, e.m, e.n})));
  const auto fits = [&](const std::vector<int64_t>& free, const isa::StridedView& view, size_t i) {
    std::vector<int64_t> dims = p.batch;
    dims.insert(dims.end(), free.begin(), free.end());
    dims.insert(dims.end(), p.k.begin(), p.k.end());
    return wide::Fits(dims, view.offset, view.strides, tiles[i].elements);
  };
  if (!fits(p.m, p.lhs, 1) || !fits(p.n, p.rhs, 2) || wide::Volume({e.batch, e.m, e.k}) < 0 ||
      wide::Volume({e.batch, e.n, e.k}) < 0)
    return OutOfRange("gpsimd_kernel wide_dot: an operand's view leaves its tile");
  wide::ForKind(wide::KindOf(tiles[0].dtype),
                [&]<typename T>(std::type_identity<T>) { Run<T>(p, e, tiles); });
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
