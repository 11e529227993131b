// triangular_solve: op(a) x = b or x op(a) = b by substitution.
#include <cstring>

#include "emulator/wide/blocks.h"
#include "emulator/wide/checks.h"
#include "emulator/wide/dispatch.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "triangular_solve";

using wide::Conjugate;

// Solves for `x` in place. x op(a) = b is op(a)^T x^T = b^T: only the indices change. Rows of x are
// updated as wholes, so that the inner loop runs along memory when a stands on the left.
template <typename T>
void Solve(const isa::TriangularSolveParameters& p, const T* a, T* x) {
  const bool flipped = (p.transpose != 0) == p.left_side;  // entry (i, j) of the system is a[j, i]
  const auto system = [&](int64_t i, int64_t j) {
    const T value = flipped ? a[j * p.n + i] : a[i * p.n + j];
    return p.transpose == 2 ? Conjugate(value) : value;
  };
  const bool lower = p.lower != flipped;
  const int64_t row_step = p.left_side ? p.m : 1, column_step = p.left_side ? 1 : p.n;
  for (int64_t step = 0; step < p.n; ++step) {
    const int64_t i = lower ? step : p.n - 1 - step;
    T* row = x + i * row_step;
    for (int64_t done = 0; done < step; ++done) {
      const int64_t j = lower ? done : p.n - 1 - done;
      const T factor = system(i, j);
      const T* other = x + j * row_step;
      for (int64_t c = 0; c < p.m; ++c) row[c * column_step] -= factor * other[c * column_step];
    }
    if (p.unit_diagonal) continue;
    const T pivot = system(i, i);
    for (int64_t c = 0; c < p.m; ++c) row[c * column_step] /= pivot;
  }
}

template <typename T>
void Run(const isa::TriangularSolveParameters& p, std::span<const KernelTensor> tiles) {
  const size_t bytes = static_cast<size_t>(p.batch * p.n * p.m) * sizeof(T);
  if (tiles[0].data != tiles[2].data) std::memmove(tiles[0].data, tiles[2].data, bytes);
  for (int64_t b = 0; b < p.batch; ++b)
    Solve(p, tiles[1].as<T>() + b * p.n * p.n, tiles[0].as<T>() + b * p.n * p.m);
}

}  // namespace

Status triangular_solve(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p,
                          isa::Unpack<isa::TriangularSolveParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3));
  NEURON_RETURN_IF_ERROR(wide::ExpectRange(kName, "transpose", p.transpose, 0, 2));
  const int64_t volume = wide::Volume({p.batch, p.n, p.m});
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 0, volume));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 1, wide::Volume({p.batch, p.n, p.n})));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 2, volume));
  NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 0, tiles[1].dtype));
  NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 2, tiles[1].dtype));
  return wide::ForFieldType(kName, tiles[1].dtype,
                            [&]<typename T>(std::type_identity<T>) { Run<T>(p, tiles); });
}

}  // namespace neuron::emulator::gpsimd_kernels
