#include "compiler/conv_problem.h"

#include <algorithm>

#include "compiler/operands.h"
#include "compiler/padding.h"

namespace neuron::compiler {
StatusOr<ConvProblem> MakeConvProblem(EmitContext& ctx, const hlo::Instruction& conv) {
  const hlo::Attributes& a = conv.attributes();
  const hlo::ConvolutionDimensions& d = a.convolution;
  NEURON_ASSIGN_OR_RETURN(const View x, OperandView(ctx, conv.operand(0)));
  NEURON_ASSIGN_OR_RETURN(View w, OperandView(ctx, conv.operand(1)));
  ConvProblem p;
  NEURON_ASSIGN_OR_RETURN(const PaddedOperand image,
                          PadOperand(ctx, x, d.input_spatial, a.window, 0));
  p.image = {.tensor = image.tensor,
             .dtype = image.dtype,
             .byte_offset = image.byte_offset,
             .spatial = {}};
  p.groups = std::max(a.feature_group_count, a.batch_group_count);
  const auto at = [](const Dims& list, int64_t i) { return list[static_cast<size_t>(i)]; };
  p.batch = at(x.sizes, d.input_batch) / a.batch_group_count;
  p.inputs = at(x.sizes, d.input_feature) / a.feature_group_count;
  p.outputs = at(w.sizes, d.kernel_output_feature) / p.groups;
  p.image.outer = at(image.strides, d.input_batch);
  p.image.inner = at(image.strides, d.input_feature);
  p.image.group = a.batch_group_count > 1 ? p.image.outer * p.batch : p.image.inner * p.inputs;

  int64_t weight_offset = w.offset;
  p.weight.tensor = ctx.BufferOf(w.base).tensor;
  p.weight.dtype = w.dtype;
  p.weight.outer = at(w.strides, d.kernel_output_feature);
  p.weight.inner = at(w.strides, d.kernel_input_feature);
  p.weight.group = p.weight.outer * p.outputs;
  for (size_t s = 0; s < a.window.size(); ++s) {
    const hlo::WindowDimension& window = a.window[s];
    p.extents.push_back(at(image.sizes, d.input_spatial[s]));
    p.image.spatial.push_back(at(image.strides, d.input_spatial[s]));
    p.taps.push_back(window.size);
    p.stride.push_back(window.stride);
    p.dilation.push_back(window.window_dilation);
    int64_t step = at(w.strides, d.kernel_spatial[s]);
    if (window.reversal) {
      weight_offset += (window.size - 1) * step;
      step = -step;
    }
    p.weight.spatial.push_back(step);
    p.places.push_back(at(conv.shape().dims, d.output_spatial[s]));
    p.place_dims.push_back(static_cast<int>(d.output_spatial[s]));
  }
  p.weight.byte_offset = ctx.BufferOf(w.base).byte_offset + weight_offset * ByteSize(w.dtype);
  p.n_dim = static_cast<int>(d.output_batch);
  p.o_dim = static_cast<int>(d.output_feature);
  if (p.rank() > 3)
    return Unimplemented("compiler: convolution ", conv.name(), " has ", p.rank(),
                         " spatial dimensions, at most 3 are mapped");
  return p;
}

}  // namespace neuron::compiler
