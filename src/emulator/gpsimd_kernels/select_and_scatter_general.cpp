// select_and_scatter_general: HLO select-and-scatter of any dtype. Sources scatter in row-major
// order; the padding is never selected.
#include <algorithm>

#include "emulator/wide/checks.h"
#include "emulator/wide/combiner.h"
#include "emulator/wide/window.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {
constexpr std::string_view kName = "select_and_scatter_general";
}

Status select_and_scatter_general(std::span<const KernelTensor> tiles,
                                  std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p,
                          isa::Unpack<isa::SelectAndScatterParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 4));
  const KernelTensor &out = tiles[0], &operand = tiles[1], &source = tiles[2], &init = tiles[3];
  NEURON_ASSIGN_OR_RETURN(const wide::WindowWalk walk,
                          wide::WindowWalk::Make(kName, p.dims, p.source_dims, p.window));
  const int64_t volume = wide::Volume(p.dims);
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 0, volume));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 1, volume));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 2, walk.places()));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 3, 1));
  NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 2, out.dtype));
  NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 3, out.dtype));
  NEURON_RETURN_IF_ERROR(wide::Check(kName, p.select));
  if (p.select.inputs != std::vector<DType>{operand.dtype, operand.dtype} ||
      p.select.outputs.size() != 1 || p.select.dtype(p.select.outputs[0]) != DType::kPred)
    return InvalidArgument("gpsimd_kernel select_and_scatter_general: select must compare two ",
                           DTypeName(operand.dtype));
  NEURON_ASSIGN_OR_RETURN(const auto program,
                          wide::MakeCombiner(kName, p.scatter, {}, {out.dtype}));

  const int64_t zeros[wide::kBlock] = {};
  int64_t offsets[wide::kBlock];
  wide::Combiner combiner(program, {out.dtype});
  wide::Load(out.dtype, init.data, zeros, wide::kBlock, combiner.accumulator(0));
  for (int64_t begin = 0; begin < volume; begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, volume - begin));
    for (int i = 0; i < n; ++i) offsets[i] = begin + i;
    wide::Store(out.dtype, out.data, offsets, n, combiner.accumulator(0));
  }

  wide::Evaluator select(p.select);
  int64_t best[wide::kBlock];
  for (int64_t begin = 0; begin < walk.places(); begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, walk.places() - begin));
    std::fill(best, best + n, int64_t{-1});
    for (int64_t position = 0; position < walk.positions(); ++position) {
      walk.Offsets(position, begin, n, offsets);
      int64_t left[wide::kBlock], right[wide::kBlock];
      for (int i = 0; i < n; ++i) {  // element 0 stands in where there is nothing to compare
        left[i] = best[i] < 0 ? 0 : best[i];
        right[i] = offsets[i] < 0 ? 0 : offsets[i];
      }
      if (volume == 0) continue;
      wide::Load(operand.dtype, operand.data, left, n, select.input(0));
      wide::Load(operand.dtype, operand.data, right, n, select.input(1));
      select.Run(n);
      const auto* keep = static_cast<const int64_t*>(select.output(0));
      for (int i = 0; i < n; ++i)
        if (offsets[i] >= 0 && (best[i] < 0 || !keep[i])) best[i] = offsets[i];
    }
    for (int i = 0; i < n; ++i) {
      if (best[i] < 0) continue;
      const int64_t at = begin + i;
      wide::Load(out.dtype, out.data, &best[i], 1, combiner.accumulator(0));
      wide::Load(out.dtype, source.data, &at, 1, combiner.element(0));
      combiner.Run(1);
      wide::Store(out.dtype, out.data, &best[i], 1, combiner.accumulator(0));
    }
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
