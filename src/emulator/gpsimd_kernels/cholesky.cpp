// cholesky: factors of symmetric or Hermitian positive definite matrices, column by column.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "emulator/wide/blocks.h"
#include "emulator/wide/checks.h"
#include "emulator/wide/dispatch.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "cholesky";

using wide::Conjugate;

// Reads only the named triangle of `a`; the factor of the upper one is the adjoint.
template <typename T>
void Factor(const T* a, T* out, int64_t n, bool lower) {
  const auto get = [&](int64_t i, int64_t j) {  // a[i, j], i >= j, of the lower triangle
    return lower ? a[i * n + j] : Conjugate(a[j * n + i]);
  };
  const auto at = [&](int64_t i, int64_t j) -> T& {
    return lower ? out[i * n + j] : out[j * n + i];
  };
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < j; ++i) at(i, j) = T(0);
    for (int64_t i = j; i < n; ++i) {
      T sum = get(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * Conjugate(at(j, k));
      if (i == j) {
        const auto pivot = std::real(sum);
        at(j, j) = pivot > 0 ? T(std::sqrt(pivot))
                             : T(std::numeric_limits<decltype(pivot + 0)>::quiet_NaN());
      } else {
        at(i, j) = sum / at(j, j);
      }
    }
  }
  if (!lower)
    for (int64_t i = 0; i < n * n; ++i) out[i] = Conjugate(out[i]);
}

template <typename T>
void Run(const isa::CholeskyParameters& p, std::span<const KernelTensor> tiles) {
  std::vector<T> copy(static_cast<size_t>(p.n * p.n));  // the result may replace the operand
  for (int64_t b = 0; b < p.batch; ++b) {
    const T* a = tiles[1].as<T>() + b * p.n * p.n;
    copy.assign(a, a + p.n * p.n);
    Factor(copy.data(), tiles[0].as<T>() + b * p.n * p.n, p.n, p.lower);
  }
}

}  // namespace

Status cholesky(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::CholeskyParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 2));
  NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 0, tiles[1].dtype));
  for (size_t i = 0; i < 2; ++i)
    NEURON_RETURN_IF_ERROR(
        wide::ExpectElements(kName, tiles, i, wide::Volume({p.batch, p.n, p.n})));
  return wide::ForFieldType(kName, tiles[0].dtype,
                            [&]<typename T>(std::type_identity<T>) { Run<T>(p, tiles); });
}

}  // namespace neuron::emulator::gpsimd_kernels
