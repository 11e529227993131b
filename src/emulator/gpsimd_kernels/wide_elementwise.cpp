// wide_elementwise: an expression program at every point of an iteration space. Conversions,
// iotas and strided copies are such programs too.
#include "emulator/gpsimd_kernel.h"
#include "emulator/wide/evaluator.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {
constexpr std::string_view kName = "wide_elementwise";
}

Status wide_elementwise(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p,
                          isa::Unpack<isa::WideElementwiseParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::Check(kName, p.program));
  const size_t outs = p.outputs.size();
  if (tiles.size() < outs || p.program.outputs.size() != outs ||
      p.program.inputs.size() != p.inputs.size() || wide::Volume(p.dims) < 0)
    return InvalidArgument("gpsimd_kernel wide_elementwise: ", tiles.size(), " tiles and ",
                           p.inputs.size(), " inputs do not match a program of ",
                           p.program.inputs.size(), " inputs and ", outs, " outputs");
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const isa::WideInput& input = p.inputs[i];
    if (input.tile < -1 || input.tile >= static_cast<int64_t>(tiles.size() - outs) ||
        input.dtype != p.program.inputs[i] || input.view.strides.size() != p.dims.size())
      return InvalidArgument("gpsimd_kernel wide_elementwise: input ", i, " is not well formed");
    if (input.tile < 0) continue;
    const KernelTensor& tile = tiles[outs + static_cast<size_t>(input.tile)];
    if (!wide::Fits(p.dims, input.view.offset, input.view.strides, tile.elements))
      return OutOfRange("gpsimd_kernel wide_elementwise: input ", i, " reaches beyond the ",
                        tile.elements, " elements of its tile");
  }
  for (size_t i = 0; i < outs; ++i) {
    const DType dtype = p.program.dtype(p.program.outputs[i]);
    if (ByteSize(dtype) != ByteSize(tiles[i].dtype) ||
        !wide::Fits(p.dims, p.outputs[i].offset, p.outputs[i].strides, tiles[i].elements))
      return OutOfRange("gpsimd_kernel wide_elementwise: output ", i, " ", DTypeName(dtype),
                        " does not fit its tile of ", tiles[i].elements, " ",
                        DTypeName(tiles[i].dtype));
  }

  const wide::StridedWalk walk(p.dims);
  wide::Evaluator evaluator(p.program);
  int64_t offsets[wide::kBlock];
  for (int64_t begin = 0; begin < walk.size(); begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, walk.size() - begin));
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      const isa::WideInput& input = p.inputs[i];
      walk.Offsets(input.view.offset, input.view.strides, begin, n, offsets);
      void* block = evaluator.input(static_cast<int>(i));
      if (input.tile >= 0) {
        wide::Load(input.dtype, tiles[outs + static_cast<size_t>(input.tile)].data, offsets, n,
                   block);
      } else {  // iota: the offset is the number
        isa::WideInstruction to;
        to.dtype = input.dtype;
        wide::RunConversion(
            {.instruction = &to, .in = DType::kS64, .operands = {offsets}, .out = block, .n = n});
      }
    }
    evaluator.Run(n);
    for (size_t i = 0; i < outs; ++i) {
      walk.Offsets(p.outputs[i].offset, p.outputs[i].strides, begin, n, offsets);
      wide::Store(p.program.dtype(p.program.outputs[i]), tiles[i].data, offsets, n,
                  evaluator.output(static_cast<int>(i)));
    }
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
