// Convolution of any rank, groups, transposed, and its three gradients, each as one HLO
// convolution.
//
// PyTorch: input [N, C, ...], weight [O, C/g, ...] (transposed: [C, O/g, ...]).
#include <algorithm>
#include <utility>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::ConvolutionDimensions;
using hlo::Value;
using hlo::WindowDimension;

struct Geometry {
  Dims stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

// An int stands for all spatial dimensions.
Dims Spread(Dims list, size_t spatial) {
  if (list.size() == 1) list.assign(spatial, list[0]);
  return list;
}

// stride, padding, dilation, transposed, output_padding, groups from position `i` on.
Geometry ReadGeometry(const Args& args, size_t i, size_t spatial) {
  return {.stride = Spread(args.integers(i), spatial),
          .padding = Spread(args.integers(i + 1), spatial),
          .dilation = Spread(args.integers(i + 2), spatial),
          .output_padding = Spread(args.integers(i + 4), spatial),
          .transposed = args.flag(i + 3),
          .groups = args.integer(i + 5)};
}

// Dimension 0 of each operand is (batch, feature) in the order given, spatial ones follow.
ConvolutionDimensions Layout(size_t spatial, bool input_swapped, bool kernel_swapped,
                             bool output_swapped) {
  ConvolutionDimensions d;
  d.input_batch = input_swapped ? 1 : 0;
  d.input_feature = input_swapped ? 0 : 1;
  d.kernel_output_feature = kernel_swapped ? 1 : 0;
  d.kernel_input_feature = kernel_swapped ? 0 : 1;
  d.output_batch = output_swapped ? 1 : 0;
  d.output_feature = output_swapped ? 0 : 1;
  for (size_t i = 0; i < spatial; ++i) {
    const auto s = static_cast<int64_t>(i) + 2;
    d.input_spatial.push_back(s);
    d.kernel_spatial.push_back(s);
    d.output_spatial.push_back(s);
  }
  return d;
}

size_t SpatialOf(Value x) { return static_cast<size_t>(x.rank()) - 2; }
int64_t Extent(Value x, size_t spatial) { return x.dim(static_cast<int64_t>(spatial) + 2); }

// out = conv(x, w) of geometry g, not transposed.
Value Forward(Builder& b, Value x, Value w, const Geometry& g) {
  const size_t spatial = SpatialOf(x);
  std::vector<WindowDimension> window(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    window[i] = {.size = Extent(w, i),
                 .stride = g.stride[i],
                 .padding_low = g.padding[i],
                 .padding_high = g.padding[i],
                 .window_dilation = g.dilation[i]};
  }
  return b.Convolution(x, w, window, Layout(spatial, false, false, false), g.groups, 1,
                       ComputeType(x.dtype()));
}

// [g * A, B, ...] -> [A, g * B, ...]: the weight of a grouped convolution seen from the other side.
Value SwapGroups(Builder& b, Value w, int64_t groups) {
  if (groups == 1) return w;
  Dims split = w.shape().dims;
  split[0] /= groups;
  split.insert(split.begin(), groups);
  Dims permutation = AllDims(static_cast<int64_t>(split.size()));
  std::swap(permutation[0], permutation[1]);
  Dims merged = w.shape().dims;
  merged[0] /= groups;
  merged[1] *= groups;
  return b.Reshape(b.Transpose(b.Reshape(w, split), permutation), merged);
}

// The gradient of Forward with respect to x of extents `sizes`; also the transposed convolution.
Value InputGradient(Builder& b, Value grad, Value w, const Geometry& g, const Dims& sizes) {
  const size_t spatial = SpatialOf(grad);
  std::vector<WindowDimension> window(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t reach = g.dilation[i] * (Extent(w, i) - 1);
    const int64_t dilated = (Extent(grad, i) - 1) * g.stride[i] + 1;
    const int64_t low = reach - g.padding[i];
    window[i] = {.size = Extent(w, i),
                 .stride = 1,
                 .padding_low = low,
                 .padding_high = sizes[i] - (dilated + low - reach),
                 .window_dilation = g.dilation[i],
                 .base_dilation = g.stride[i]};
  }
  Dims spatial_dims;
  for (size_t i = 0; i < spatial; ++i) spatial_dims.push_back(static_cast<int64_t>(i) + 2);
  const Value flipped = b.Reverse(SwapGroups(b, w, g.groups), spatial_dims);
  return b.Convolution(grad, flipped, window, Layout(spatial, false, true, false), g.groups, 1,
                       ComputeType(grad.dtype()));
}

// The gradient of Forward with respect to w: batch and feature change places.
Value WeightGradient(Builder& b, Value grad, Value x, const Geometry& g, const Dims& kernel) {
  const size_t spatial = SpatialOf(x);
  std::vector<WindowDimension> window(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t dilated = (Extent(grad, i) - 1) * g.stride[i] + 1;
    const int64_t needed = g.dilation[i] * (kernel[i] - 1) + dilated;
    window[i] = {.size = Extent(grad, i),
                 .stride = g.dilation[i],
                 .padding_low = g.padding[i],
                 .padding_high = needed - Extent(x, i) - g.padding[i],
                 .window_dilation = g.stride[i]};
  }
  return b.Convolution(x, grad, window, Layout(spatial, true, true, true), 1, g.groups,
                       ComputeType(x.dtype()));
}

Dims TransposedExtents(Value x, Value w, const Geometry& g) {
  Dims sizes;
  for (size_t i = 0; i < SpatialOf(x); ++i) {
    sizes.push_back((Extent(x, i) - 1) * g.stride[i] - 2 * g.padding[i] +
                    g.dilation[i] * (Extent(w, i) - 1) + g.output_padding[i] + 1);
  }
  return sizes;
}

// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Values LowerConvolution(Builder& b, Args& args) {
  Value x = args.tensor(0);
  const Value w = args.tensor(1);
  const DType dtype = x.dtype();
  const size_t spatial = SpatialOf(w);
  const bool unbatched = x.rank() == w.rank() - 1;
  if (unbatched) {
    Dims dims = x.shape().dims;
    dims.insert(dims.begin(), 1);
    x = b.Reshape(x, dims);
  }
  const Geometry g = ReadGeometry(args, 3, spatial);
  for (const auto& [amounts, name] :
       {std::pair{&g.padding, "padding"}, std::pair{&g.output_padding, "output_padding"}}) {
    // HLO has a meaning for it, PyTorch none.
    if (std::any_of(amounts->begin(), amounts->end(), [](int64_t n) { return n < 0; })) {
      b.Fail(InvalidArgument(args.overload(), ": negative ", name, " is not supported"));
      return {};
    }
  }
  Expr y = {b, g.transposed ? InputGradient(b, x, w, g, TransposedExtents(x, w, g))
                            : Forward(b, x, w, g)};
  if (!args.is_none(2)) {
    Dims channel(spatial + 1, 1);
    channel[0] = y.dims()[1];
    y = y + Reshaped(Operand(args, 2, y.dtype()), channel);
  }
  y = y.As(dtype);
  if (unbatched) y = Reshaped(y, Dims(y.dims().begin() + 1, y.dims().end()));
  return {y};
}

struct Wanted {
  bool input, weight, bias;
};
Wanted ReadMask(Builder& b, const Args& args, size_t i) {
  const auto* mask = std::get_if<std::vector<bool>>(&args[i]);
  if (mask == nullptr || mask->size() != 3) {
    b.Fail(Internal("convolution_backward: argument ", i, " is no output mask"));
    return {false, false, false};
  }
  return {(*mask)[0], (*mask)[1], (*mask)[2]};
}

// Geometry from position `geometry`, mask from `mask`.
Values Backward(Builder& b, Args& args, size_t geometry, size_t mask) {
  const Value grad = args.tensor(0);
  const Value x = args.tensor(1);
  const Value w = args.tensor(2);
  const size_t spatial = SpatialOf(w);
  const Geometry g = ReadGeometry(args, geometry, spatial);
  const Wanted wanted = ReadMask(b, args, mask);
  const Dims kernel(w.shape().dims.begin() + 2, w.shape().dims.end());
  Values out(3);
  if (wanted.input) {
    const Dims sizes(x.shape().dims.begin() + 2, x.shape().dims.end());
    out[0] = b.Convert(g.transposed ? Forward(b, grad, w, g) : InputGradient(b, grad, w, g, sizes),
                       x.dtype());
  }
  if (wanted.weight) {
    // The transposed convolution is the other's input gradient: x and grad change roles.
    out[1] = b.Convert(g.transposed ? WeightGradient(b, x, grad, g, kernel)
                                    : WeightGradient(b, grad, x, g, kernel),
                       w.dtype());
  }
  if (wanted.bias) {
    Dims dims = AllDims(grad.rank());
    dims.erase(dims.begin() + 1);
    const Expr e = Operand(args, 0, ComputeType(grad.dtype()));
    out[2] = b.Convert(b.ReduceSum(e, dims), grad.dtype());
  }
  return out;
}
// (grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
//  output_mask)
Values LowerBackward(Builder& b, Args& args) { return Backward(b, args, 4, 10); }
Values LowerBackwardOverrideable(Builder& b, Args& args) { return Backward(b, args, 3, 9); }

constexpr Row kRows[] = {
    {"aten::convolution", LowerConvolution},
    {"aten::convolution_overrideable", LowerConvolution},
    {"aten::convolution_backward", LowerBackward},
    {"aten::convolution_backward_overrideable", LowerBackwardOverrideable},
};

}  // namespace

constinit const std::span<const Row> kConvolutionRows = kRows;

}  // namespace neuron::lowering
