#include "compiler/padding.h"

#include <algorithm>

#include "compiler/movement.h"

namespace neuron::compiler {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

}  // namespace

StatusOr<PaddedOperand> PadOperand(EmitContext& ctx, const View& view, const Dims& dims,
                                   const std::vector<hlo::WindowDimension>& window, double fill) {
  View cropped = view;               // the elements that survive
  Dims first(view.sizes.size(), 0);  // where element 0 of `cropped` goes
  Dims step(view.sizes.size(), 1);
  Dims sizes = view.sizes;
  bool copies = false;
  for (size_t s = 0; s < dims.size(); ++s) {
    const auto d = static_cast<size_t>(dims[s]);
    const hlo::WindowDimension& w = window[s];
    const int64_t base = (view.sizes[d] - 1) * w.base_dilation + 1;
    sizes[d] = std::max<int64_t>(0, base + w.padding_low + w.padding_high);
    const int64_t from = std::max<int64_t>(0, CeilDiv(-w.padding_low, w.base_dilation));
    const int64_t to =  // exclusive
        std::min(view.sizes[d], CeilDiv(sizes[d] - w.padding_low, w.base_dilation));
    cropped.offset += from * view.strides[d];
    cropped.sizes[d] = std::max<int64_t>(0, to - from);
    first[d] = from * w.base_dilation + w.padding_low;
    step[d] = w.base_dilation;
    copies = copies || sizes[d] != cropped.sizes[d];
  }
  if (!copies) {
    const Buffer buffer = ctx.BufferOf(view.base);
    return PaddedOperand{.tensor = buffer.tensor,
                         .dtype = TileDType(view.dtype),
                         .byte_offset = buffer.byte_offset + cropped.offset * ByteSize(view.dtype),
                         .sizes = sizes,
                         .strides = view.strides};
  }
  const Dims strides = DenseStrides(sizes);
  const uint16_t scratch =
      ctx.b.AddTensor({.name = StrCat("padded", ctx.b.program().tensors.size()),
                       .kind = isa::TensorKind::kScratch,
                       .bytes = Product(sizes) * ByteSize(view.dtype)});
  HbmView to{.tensor = scratch,
             .dtype = TileDType(view.dtype),
             .byte_offset = Affine(0),
             .strides = strides};
  NEURON_RETURN_IF_ERROR(EmitFill(ctx, sizes, to, view.dtype, fill));
  int64_t offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    offset += first[d] * strides[d];
    to.strides[d] = strides[d] * step[d];
  }
  to.byte_offset = Affine(offset * ByteSize(view.dtype));
  NEURON_RETURN_IF_ERROR(EmitCopy(ctx, cropped.sizes, to, HbmViewOf(ctx, cropped)));
  return PaddedOperand{.tensor = scratch,
                       .dtype = TileDType(view.dtype),
                       .byte_offset = 0,
                       .sizes = sizes,
                       .strides = strides};
}

}  // namespace neuron::compiler
