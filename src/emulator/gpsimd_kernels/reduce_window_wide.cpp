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
}

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
