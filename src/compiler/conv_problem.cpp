#include "compiler/conv_problem.h"

#include <algorithm>

#include "compiler/movement.h"
#include "compiler/operands.h"

namespace neuron::compiler {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// The view with its spatial dimensions padded and dilated as the window says: itself with other
// offsets if that only crops, else a zero-filled copy.
StatusOr<View> Padded(EmitContext& ctx, View view, const Dims& spatial,
                      const std::vector<hlo::WindowDimension>& window, ConvOperand* place) {
  View cropped = view;               // the elements that survive
  Dims first(view.sizes.size(), 0);  // where element 0 of `cropped` goes
  Dims step(view.sizes.size(), 1);
  Dims sizes = view.sizes;
  bool copies = false;
  for (size_t s = 0; s < spatial.size(); ++s) {
    const auto d = static_cast<size_t>(spatial[s]);
    const hlo::WindowDimension& w = window[s];
    const int64_t base = (view.sizes[d] - 1) * w.base_dilation + 1;
    sizes[d] = std::max<int64_t>(0, base + w.padding_low + w.padding_high);
    const int64_t from = std::max<int64_t>(0, CeilDiv(-w.padding_low, w.base_dilation));
    const int64_t to =
        std::min(view.sizes[d], CeilDiv(sizes[d] - w.padding_low, w.base_dilation));  // exclusive
    cropped.offset += from * view.strides[d];
    cropped.sizes[d] = std::max<int64_t>(0, to - from);
    first[d] = from * w.base_dilation + w.padding_low;
    step[d] = w.base_dilation;
    copies = copies || sizes[d] != cropped.sizes[d];
  }
  const Buffer buffer = ctx.BufferOf(view.base);
  if (!copies) {
    *place = {.tensor = buffer.tensor,
              .dtype = view.dtype,
              .byte_offset = buffer.byte_offset + cropped.offset * ByteSize(view.dtype),
              .spatial = {}};
    cropped.sizes = sizes;
    return cropped;
  }
  View out = view;
  out.sizes = sizes;
  out.strides = DenseStrides(sizes);
  out.offset = 0;
  const int64_t bytes = Product(sizes) * ByteSize(view.dtype);
  const uint16_t scratch =
      ctx.b.AddTensor({.name = StrCat("padded", ctx.b.program().tensors.size()),
                       .kind = isa::TensorKind::kScratch,
                       .bytes = bytes});
  HbmView to{
      .tensor = scratch, .dtype = view.dtype, .byte_offset = Affine(0), .strides = out.strides};
  NEURON_RETURN_IF_ERROR(EmitFill(ctx, sizes, to, view.dtype, 0));
  int64_t offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    offset += first[d] * out.strides[d];
    to.strides[d] = out.strides[d] * step[d];
  }
  to.byte_offset = Affine(offset * ByteSize(view.dtype));
  NEURON_RETURN_IF_ERROR(EmitCopy(ctx, cropped.sizes, to, HbmViewOf(ctx, cropped)));
  *place = {.tensor = scratch, .dtype = view.dtype, .byte_offset = 0, .spatial = {}};
  return out;
}

}  // namespace

StatusOr<ConvProblem> MakeConvProblem(EmitContext& ctx, const hlo::Instruction& conv) {
  const hlo::Attributes& a = conv.attributes();
  const hlo::ConvolutionDimensions& d = a.convolution;
  NEURON_ASSIGN_OR_RETURN(const View x, OperandView(ctx, conv.operand(0)));
  NEURON_ASSIGN_OR_RETURN(View w, OperandView(ctx, conv.operand(1)));
  ConvProblem p;
  NEURON_ASSIGN_OR_RETURN(const View image, Padded(ctx, x, d.input_spatial, a.window, &p.image));
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
