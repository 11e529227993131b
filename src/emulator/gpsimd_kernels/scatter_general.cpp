// scatter_general: HLO scatter with any dimension numbers and combiner.
#include <algorithm>
#include <cstring>
#include <vector>

#include "emulator/wide/checks.h"
#include "emulator/wide/combiner.h"
#include "emulator/wide/indexing.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "scatter_general";

// The operand dimensions' window extents: those of the updates, 1 where none is.
std::vector<int64_t> WindowSizes(const isa::ScatterParameters& p) {
  std::vector<int64_t> sizes;
  size_t window = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(p.operand_dims.size()); ++d) {
    const auto has = [&](const std::vector<int64_t>& list) {
      return std::find(list.begin(), list.end(), d) != list.end();
    };
    const bool absent = has(p.inserted_window_dims) || has(p.input_batching_dims);
    int64_t size = 1;
    if (!absent && window < p.update_window_dims.size()) {
      const int64_t of = p.update_window_dims[window++];
      if (of >= 0 && of < static_cast<int64_t>(p.update_dims.size()))
        size = p.update_dims[static_cast<size_t>(of)];
    }
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

Status scatter_general(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::ScatterParameters>(kName, parameters));
  const size_t values = tiles.empty() ? 0 : (tiles.size() - 1) / 3;
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3 * std::max<size_t>(values, 1) + 1));
  const auto outs = tiles.first(values), operands = tiles.subspan(values, values),
             updates = tiles.subspan(2 * values + 1);
  const KernelTensor& indices = tiles[2 * values];
  std::vector<DType> dtypes;
  for (size_t i = 0; i < values; ++i) {
    const int64_t volume = wide::Volume(p.operand_dims);
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, i, volume));
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, values + i, volume));
    NEURON_RETURN_IF_ERROR(
        wide::ExpectElements(kName, tiles, 2 * values + 1 + i, wide::Volume(p.update_dims)));
    NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, i, operands[i].dtype));
    NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, 2 * values + 1 + i, operands[i].dtype));
    dtypes.push_back(operands[i].dtype);
  }
  NEURON_RETURN_IF_ERROR(
      wide::ExpectElements(kName, tiles, 2 * values, wide::Volume(p.index_dims)));
  NEURON_ASSIGN_OR_RETURN(const auto program,
                          wide::MakeCombiner(kName, p.combiner, p.program, dtypes));
  const std::vector<int64_t> window_sizes = WindowSizes(p);
  const wide::IndexingDimensions dimensions{.operand_dims = p.operand_dims,
                                            .index_dims = p.index_dims,
                                            .result_dims = p.update_dims,
                                            .window_dims = p.update_window_dims,
                                            .absent_dims = p.inserted_window_dims,
                                            .index_map = p.scatter_dims_to_operand_dims,
                                            .operand_batching = p.input_batching_dims,
                                            .index_batching = p.scatter_indices_batching_dims,
                                            .index_vector_dim = p.index_vector_dim,
                                            .window_sizes = window_sizes};
  NEURON_ASSIGN_OR_RETURN(const auto windows, wide::WindowIndexing::Make(kName, dimensions));

  for (size_t i = 0; i < values; ++i)
    if (outs[i].data != operands[i].data)
      std::memmove(outs[i].data, operands[i].data,
                   static_cast<size_t>(wide::Volume(p.operand_dims) * ByteSize(dtypes[i])));
  wide::Combiner combiner(program, dtypes);
  int64_t old_offsets[wide::kBlock], new_offsets[wide::kBlock];
  for (int64_t w = 0; w < windows.count(); ++w) {
    const wide::WindowPlace place = windows.Place(w, indices);
    if (!place.in_bounds) continue;
    for (const wide::Run& run : windows.runs()) {
      for (int64_t begin = 0; begin < run.length; begin += wide::kBlock) {
        const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, run.length - begin));
        for (int i = 0; i < n; ++i) {
          old_offsets[i] =
              place.operand_offset + run.operand_offset + (begin + i) * windows.operand_stride();
          new_offsets[i] =
              place.result_offset + run.result_offset + (begin + i) * windows.result_stride();
        }
        for (size_t i = 0; i < values; ++i) {
          const int value = static_cast<int>(i);
          wide::Load(dtypes[i], outs[i].data, old_offsets, n, combiner.accumulator(value));
          wide::Load(dtypes[i], updates[i].data, new_offsets, n, combiner.element(value));
        }
        combiner.Run(n);
        for (size_t i = 0; i < values; ++i)
          wide::Store(dtypes[i], outs[i].data, old_offsets, n,
                      combiner.accumulator(static_cast<int>(i)));
      }
    }
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
