// gather_general: HLO gather with any dimension numbers.
#include <cstring>

#include "emulator/wide/blocks.h"
#include "emulator/wide/checks.h"
#include "emulator/wide/indexing.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {
constexpr std::string_view kName = "gather_general";
}

Status gather_general(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::GatherParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3));
  const KernelTensor &out = tiles[0], &operand = tiles[1], &indices = tiles[2];
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 0, wide::Volume(p.out_dims)));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 1, wide::Volume(p.operand_dims)));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 2, wide::Volume(p.index_dims)));
  if (ByteSize(out.dtype) != ByteSize(operand.dtype))
    return InvalidArgument("gpsimd_kernel gather_general: ", DTypeName(operand.dtype), " into ",
                           DTypeName(out.dtype));
  const wide::IndexingDimensions dimensions{.operand_dims = p.operand_dims,
                                            .index_dims = p.index_dims,
                                            .result_dims = p.out_dims,
                                            .window_dims = p.offset_dims,
                                            .absent_dims = p.collapsed_slice_dims,
                                            .index_map = p.start_index_map,
                                            .operand_batching = p.operand_batching_dims,
                                            .index_batching = p.start_indices_batching_dims,
                                            .index_vector_dim = p.index_vector_dim,
                                            .window_sizes = p.slice_sizes};
  NEURON_ASSIGN_OR_RETURN(const auto windows, wide::WindowIndexing::Make(kName, dimensions));

  const size_t bytes = static_cast<size_t>(ByteSize(operand.dtype));
  for (int64_t w = 0; w < windows.count(); ++w) {
    const wide::WindowPlace place = windows.Place(w, indices);
    // `operand_offset` is of the clamped start, as gather wants it.
    for (const wide::Run& run : windows.runs()) {
      const std::byte* source =
          operand.data + static_cast<size_t>(place.operand_offset + run.operand_offset) * bytes;
      std::byte* target =
          out.data + static_cast<size_t>(place.result_offset + run.result_offset) * bytes;
      if (windows.contiguous()) {
        std::memcpy(target, source, static_cast<size_t>(run.length) * bytes);
      } else {
        for (int64_t i = 0; i < run.length; ++i)
          std::memcpy(target + static_cast<size_t>(i * windows.result_stride()) * bytes,
                      source + static_cast<size_t>(i * windows.operand_stride()) * bytes, bytes);
      }
    }
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
