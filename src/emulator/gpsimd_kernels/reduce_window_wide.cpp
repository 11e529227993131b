// reduce_window_wide: HLO reduce-window of any dtype, of one or several values. Elements combine in
// row-major order of the window; padding gives the initial value.
#include <algorithm>

#include "emulator/wide/checks.h"
#include "emulator/wide/combiner.h"
#include "emulator/wide/window.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "reduce_window_wide";

// The dimension of a running reduction: each window is all elements so far. -1 if there is none.
int64_t ScanDimension(const isa::ReduceWindowParameters& p) {
  int64_t scan = -1;
  for (size_t d = 0; d < p.window.size(); ++d) {
    const isa::KernelWindow& w = p.window[d];
    if (w.stride != 1 || w.window_dilation != 1 || w.base_dilation != 1 || w.padding_high != 0 ||
        w.padding_low != w.size - 1)
      return -1;
    if (w.size == 1) continue;
    if (scan >= 0 || w.size < p.dims[d]) return -1;
    scan = static_cast<int64_t>(d);
  }
  return scan;
}

// One pass instead of a window per element; the same order of combination, but for the padding's
// initial values, which XLA requires to change nothing.
void Scan(const isa::ReduceWindowParameters& p, size_t dim, const std::vector<DType>& dtypes,
          std::span<const KernelTensor> tiles, wide::Combiner& combiner) {
  const size_t values = dtypes.size();
  int64_t inner = 1, lines = 1;
  for (size_t d = 0; d < p.dims.size(); ++d) {
    if (d > dim) inner *= p.dims[d];
    if (d != dim) lines *= p.dims[d];
  }
  const int64_t length = p.dims[dim];
  int64_t offsets[wide::kBlock];
  const int64_t zeros[wide::kBlock] = {};
  for (int64_t begin = 0; begin < lines; begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, lines - begin));
    for (size_t i = 0; i < values; ++i)
      wide::Load(dtypes[i], tiles[2 * values + i].data, zeros, n,
                 combiner.accumulator(static_cast<int>(i)));
    for (int64_t at = 0; at < length; ++at) {
      for (int l = 0; l < n; ++l)
        offsets[l] = (begin + l) / inner * inner * length + at * inner + (begin + l) % inner;
      for (size_t i = 0; i < values; ++i)
        wide::Load(dtypes[i], tiles[values + i].data, offsets, n,
                   combiner.element(static_cast<int>(i)));
      combiner.Run(n);
      for (size_t i = 0; i < values; ++i)
        wide::Store(dtypes[i], tiles[i].data, offsets, n,
                    combiner.accumulator(static_cast<int>(i)));
    }
  }
}

}  // namespace

Status reduce_window_wide(std::span<const KernelTensor> tiles,
                          std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p,
                          isa::Unpack<isa::ReduceWindowParameters>(kName, parameters));
  const size_t values = tiles.size() / 3;
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3 * std::max<size_t>(values, 1)));
  const auto outs = tiles.first(values), inputs = tiles.subspan(values, values),
             inits = tiles.subspan(2 * values);
  NEURON_ASSIGN_OR_RETURN(const wide::WindowWalk walk,
                          wide::WindowWalk::Make(kName, p.dims, p.out_dims, p.window));
  std::vector<DType> dtypes;
  for (size_t i = 0; i < values; ++i) {
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, i, walk.places()));
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, values + i, wide::Volume(p.dims)));
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 2 * values + i, 1));
    NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, i, inputs[i].dtype));
    NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 2 * values + i, inputs[i].dtype));
    dtypes.push_back(inputs[i].dtype);
  }
  NEURON_ASSIGN_OR_RETURN(const auto program, wide::MakeCombiner(kName, p.op, p.program, dtypes));
  wide::Combiner combiner(program, dtypes);
  if (const int64_t dim = ScanDimension(p); dim >= 0) {
    Scan(p, static_cast<size_t>(dim), dtypes, tiles, combiner);
    return OkStatus();
  }

  int64_t offsets[wide::kBlock];
  const int64_t zeros[wide::kBlock] = {};
  for (int64_t begin = 0; begin < walk.places(); begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, walk.places() - begin));
    for (size_t i = 0; i < values; ++i)
      wide::Load(dtypes[i], inits[i].data, zeros, n, combiner.accumulator(static_cast<int>(i)));
    for (int64_t position = 0; position < walk.positions(); ++position) {
      walk.Offsets(position, begin, n, offsets);
      for (size_t i = 0; i < values; ++i) {
        const int value = static_cast<int>(i);
        const size_t bytes = wide::BlockElementBytes(dtypes[i]);
        auto* element = static_cast<std::byte*>(combiner.element(value));
        for (int at = 0; at < n; ++at) {
          const bool padding = offsets[at] < 0;
          wide::Load(dtypes[i], padding ? inits[i].data : inputs[i].data,
                     padding ? zeros : &offsets[at], 1, element + static_cast<size_t>(at) * bytes);
        }
      }
      combiner.Run(n);
    }
    for (int at = 0; at < n; ++at) offsets[at] = begin + at;
    for (size_t i = 0; i < values; ++i)
      wide::Store(dtypes[i], outs[i].data, offsets, n, combiner.accumulator(static_cast<int>(i)));
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
