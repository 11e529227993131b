// Pooling over the last two (or one, or three) dimensions.
//
// Maxima are found tap by tap: each position of the window is one strided view of the padded input,
// so that values and indices are elementwise work and no window is ever gathered. The backward pass
// compares indices in the same way. Averages are one reduce-window.
#include <limits>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;
using hlo::Value;

Dims Spread(Dims list, size_t n) {
  if (list.size() == 1) list.assign(n, list[0]);
  return list;
}

struct Window {
  Dims kernel, stride, padding, dilation;
  Dims input, output;  // spatial extents
  size_t rank() const { return kernel.size(); }
};

int64_t OutputExtent(int64_t in, int64_t k, int64_t s, int64_t p, int64_t d, bool ceil_mode) {
  const int64_t span = in + 2 * p - d * (k - 1) - 1;
  int64_t out = (span + (ceil_mode ? s - 1 : 0)) / s + 1;
  if (ceil_mode && (out - 1) * s >= in + p) --out;  // the last window must start inside
  return out;
}

// kernel, stride, padding from position `i` on, then dilation if `dilated`.
Window ReadWindow(const Args& args, size_t i, Value x, size_t n, bool dilated, bool ceil_mode) {
  Window w;
  w.kernel = Spread(args.integers(i), n);
  w.stride = Spread(args.integers_or(i + 1, {}), n);
  if (w.stride.empty()) w.stride = w.kernel;
  w.padding = Spread(args.integers(i + 2), n);
  w.dilation = dilated ? Spread(args.integers(i + 3), n) : Dims(n, 1);
  for (size_t d = 0; d < n; ++d) {
    w.input.push_back(x.dim(x.rank() - static_cast<int64_t>(n - d)));
    w.output.push_back(
        OutputExtent(w.input[d], w.kernel[d], w.stride[d], w.padding[d], w.dilation[d], ceil_mode));
  }
  return w;
}

// All leading dimensions as one: [B, spatial...].
Expr Collapse(Expr x, size_t n) {
  Dims dims(x.dims().end() - static_cast<int64_t>(n), x.dims().end());
  int64_t lead = 1;
  for (size_t d = 0; d + n < x.dims().size(); ++d) lead *= x.dims()[d];
  dims.insert(dims.begin(), lead);
  return Reshaped(x, dims);
}
Dims Restored(const Expr& like, const Dims& spatial) {
  Dims dims(like.dims().begin(), like.dims().end() - static_cast<int64_t>(spatial.size()));
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

// Calls fn(tap) for each position of the kernel, in row-major order.
template <typename Fn>
void ForEachTap(const Window& w, Fn fn) {
  Dims tap(w.rank(), 0);
  for (int64_t i = 0; i < Product(w.kernel); ++i) {
    fn(tap);
    for (size_t d = w.rank(); d-- > 0;) {
      if (++tap[d] < w.kernel[d]) break;
      tap[d] = 0;
    }
  }
}

// x [B, spatial...] with `fill` around, so that every tap of every window is inside.
Expr Padded(Expr x, const Window& w, double fill) {
  std::vector<hlo::PaddingDimension> padding(w.rank() + 1);
  bool needed = false;
  for (size_t d = 0; d < w.rank(); ++d) {
    const int64_t reach = (w.output[d] - 1) * w.stride[d] + w.dilation[d] * (w.kernel[d] - 1) + 1;
    padding[d + 1].low = w.padding[d];
    padding[d + 1].high = std::max<int64_t>(0, reach - w.padding[d] - w.input[d]);
    needed |= padding[d + 1].low > 0 || padding[d + 1].high > 0;
  }
  if (!needed) return x;
  Builder& b = x.builder();
  return {b, b.Pad(x, x.Like(fill), padding)};
}

Expr TapOf(Expr padded, const Window& w, const Dims& tap) {
  Dims starts = {0}, limits = {padded.dims()[0]}, strides = {1};
  for (size_t d = 0; d < w.rank(); ++d) {
    const int64_t start = tap[d] * w.dilation[d];
    starts.push_back(start);
    limits.push_back(start + (w.output[d] - 1) * w.stride[d] + 1);
    strides.push_back(w.stride[d]);
  }
  Builder& b = padded.builder();
  return {b, b.Slice(padded, starts, limits, strides)};
}

// Flat input index of a window's first tap, s32 [1, output...]; may lie outside by the padding.
Expr BaseIndex(Builder& b, const Window& w) {
  Dims dims = w.output;
  dims.insert(dims.begin(), 1);
  Expr base = {b, b.Full(Shape::Array(DType::kS32, dims), 0)};
  int64_t pitch = 1;
  for (size_t d = w.rank(); d-- > 0;) {
    const Expr position = IotaS32(b, dims, static_cast<int64_t>(d) + 1);
    base = base + position * position.LikeInt(w.stride[d] * pitch) -
           position.LikeInt(w.padding[d] * pitch);
    pitch *= w.input[d];
  }
  return base;
}
int64_t TapOffset(const Window& w, const Dims& tap) {
  int64_t offset = 0;
  for (size_t d = 0; d < w.rank(); ++d) offset = offset * w.input[d] + tap[d] * w.dilation[d];
  return offset;
}

// (self, kernel, stride, padding, dilation, ceil_mode) -> values, indices
template <int kRank>
Values LowerMaxPool(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  const Window w = ReadWindow(args, 1, self, kRank, true, args.flag(5));
  const Expr x = Collapse(self, kRank);
  if (!IsFloating(x.dtype())) {
    b.Fail(Unimplemented("max_pool: ", DTypeName(x.dtype()), " input"));
    return {};
  }
  const Expr padded = Padded(x, w, -std::numeric_limits<double>::infinity());
  Expr best, offset;
  ForEachTap(w, [&](const Dims& tap) {
    const Expr value = TapOf(padded, w, tap);
    const Expr here = {
        b, b.Full(Shape::Array(DType::kS32, value.dims()), static_cast<double>(TapOffset(w, tap)))};
    if (!best.valid()) {
      best = value;
      offset = here;
      return;
    }
    const Expr better = (value > best) || IsNan(value);  // the first of equals stays
    best = Select(better, value, best);
    offset = Select(better, here, offset);
  });
  const Expr index = offset + BaseIndex(b, w);
  const Dims dims = Restored(self, w.output);
  return {Reshaped(best, dims), Reshaped(index, dims).As(DType::kS64)};
}

// The gradient at each window's tap, written to where the tap lies and summed over taps.
Expr Spread(Expr tap_gradient, const Window& w, const Dims& tap) {
  Builder& b = tap_gradient.builder();
  std::vector<hlo::PaddingDimension> padding(w.rank() + 1);
  for (size_t d = 0; d < w.rank(); ++d) {
    const int64_t low = tap[d] * w.dilation[d] - w.padding[d];
    const int64_t span = (w.output[d] - 1) * w.stride[d] + 1;
    padding[d + 1] = {.low = low, .high = w.input[d] - low - span, .interior = w.stride[d] - 1};
  }
  return {b, b.Pad(tap_gradient, tap_gradient.Like(0), padding)};
}

// Windows that tile the input: x[B, O1, k1, O2, k2, ...] is the input itself (cut or padded at the
// end), so that a gradient is one broadcast expression.
bool Tiles(const Window& w) {
  return w.stride == w.kernel && w.dilation == Dims(w.rank(), 1) && w.padding == Dims(w.rank(), 0);
}
// dims of [B, O1, k1, O2, k2, ...]; `ones` replaces the kernel extents.
Dims TiledDims(int64_t lead, const Window& w, bool ones) {
  Dims dims = {lead};
  for (size_t d = 0; d < w.rank(); ++d) {
    dims.push_back(w.output[d]);
    dims.push_back(ones ? 1 : w.kernel[d]);
  }
  return dims;
}
// From [B, O1, k1, ...] to [B, input...].
Expr Untiled(Expr tiled, const Window& w) {
  Builder& b = tiled.builder();
  Dims dims = {tiled.dims()[0]};
  std::vector<hlo::PaddingDimension> padding(w.rank() + 1);
  bool equal = true;
  for (size_t d = 0; d < w.rank(); ++d) {
    dims.push_back(w.output[d] * w.kernel[d]);
    padding[d + 1].high = w.input[d] - dims.back();
    equal &= padding[d + 1].high == 0;
  }
  const Expr x = Reshaped(tiled, dims);
  if (equal) return x;
  return {b, b.Pad(x, x.Like(0), padding)};
}

// (grad, self, kernel, stride, padding, dilation, ceil_mode, indices)
template <int kRank>
Values LowerMaxPoolBackward(Builder& b, Args& args) {
  const Expr self = Tensor(args, 1);
  const Window w = ReadWindow(args, 2, self, kRank, true, args.flag(6));
  const DType compute = ComputeType(self.dtype());
  const Expr grad = Collapse(Operand(args, 0, compute), kRank);
  const Expr index = Collapse(Operand(args, 7, DType::kS32), kRank);
  Expr total;
  if (Tiles(w)) {
    const int64_t lead = grad.dims()[0];
    const Dims dims = TiledDims(1, w, false);
    Expr position = {b, b.Full(Shape::Array(DType::kS32, dims), 0)};
    int64_t pitch = 1;
    for (size_t d = w.rank(); d-- > 0;) {
      const auto at = static_cast<int64_t>(2 * d) + 1;
      const Expr outer = IotaS32(b, dims, at), inner = IotaS32(b, dims, at + 1);
      position =
          position + outer * outer.LikeInt(w.kernel[d] * pitch) + inner * inner.LikeInt(pitch);
      pitch *= w.input[d];
    }
    const Dims narrow = TiledDims(lead, w, true);
    total = Untiled(Select(Reshaped(index, narrow) == position, Reshaped(grad, narrow), 0.0), w);
  } else {
    const Expr relative = index - BaseIndex(b, w);
    ForEachTap(w, [&](const Dims& tap) {
      const Expr hit = relative == relative.LikeInt(TapOffset(w, tap));
      const Expr part = Spread(Select(hit, grad, 0.0), w, tap);
      total = total.valid() ? total + part : part;
    });
  }
  return {Reshaped(total, self.dims()).As(self.dtype())};
}

// How many elements each window divides by, or one number if it is the same everywhere.
struct Divisor {
  double uniform = 0;  // 0: see `table`
  Expr table;          // [1, output...]
};
Divisor DivisorOf(Builder& b, const Window& w, bool include_padding, int64_t override_value) {
  if (override_value != 0) return {static_cast<double>(override_value), {}};
  Expr table;
  double product = 1;
  bool uniform = true;
  for (size_t d = 0; d < w.rank(); ++d) {
    Dims dims(w.rank() + 1, 1);
    dims[d + 1] = w.output[d];
    const Expr i = IotaS32(b, dims, static_cast<int64_t>(d) + 1);
    int64_t common = -1;
    for (int64_t o = 0; o < w.output[d]; ++o) {
      const int64_t start = o * w.stride[d] - w.padding[d];
      const int64_t end = std::min(start + w.kernel[d], w.input[d] + w.padding[d]);
      const int64_t count =
          include_padding ? end - start : std::min(end, w.input[d]) - std::max<int64_t>(start, 0);
      if (o > 0 && count != common) uniform = false;
      common = count;
    }
    product *= static_cast<double>(common);
    const Expr start = i * i.LikeInt(w.stride[d]) - i.LikeInt(w.padding[d]);
    const Expr end =
        Minimum(start + start.LikeInt(w.kernel[d]), start.LikeInt(w.input[d] + w.padding[d]));
    const Expr count =
        include_padding ? end - start : Minimum(end, end.LikeInt(w.input[d])) - Maximum(start, 0.0);
    table = table.valid() ? table * count : count;
  }
  if (uniform) return {product, {}};
  return {0, table};
}
Expr DivideBy(Expr x, const Divisor& divisor) {
  return divisor.uniform != 0 ? x / divisor.uniform : x / divisor.table.As(x.dtype());
}

// Sums over windows of x [B, spatial...] at `stride`, x spread out by `base_dilation`.
Expr WindowSum(Expr x, const std::vector<hlo::WindowDimension>& spatial) {
  Builder& b = x.builder();
  std::vector<hlo::WindowDimension> window(1);
  window.insert(window.end(), spatial.begin(), spatial.end());
  return {b, b.ReduceWindow(x, x.Like(0), window, b.Combiner(hlo::Opcode::kAdd, x.dtype()))};
}

// (self, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
template <int kRank>
Values LowerAvgPool(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  const DType compute = ComputeType(self.dtype());
  const Window w = ReadWindow(args, 1, self, kRank, false, args.flag(4));
  const Expr x = Collapse(self.As(compute), kRank);
  std::vector<hlo::WindowDimension> window(w.rank());
  for (size_t d = 0; d < w.rank(); ++d) {
    const int64_t reach = (w.output[d] - 1) * w.stride[d] + w.kernel[d];
    window[d] = {.size = w.kernel[d],
                 .stride = w.stride[d],
                 .padding_low = w.padding[d],
                 .padding_high = std::max<int64_t>(0, reach - w.padding[d] - w.input[d])};
  }
  const Divisor divisor = DivisorOf(b, w, args.flag(5), args.integer_or(6, 0));
  return {
      Reshaped(DivideBy(WindowSum(x, window), divisor), Restored(self, w.output)).As(self.dtype())};
}

// (grad, self, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
template <int kRank>
Values LowerAvgPoolBackward(Builder& b, Args& args) {
  const Expr self = Tensor(args, 1);
  const DType compute = ComputeType(self.dtype());
  const Window w = ReadWindow(args, 2, self, kRank, false, args.flag(5));
  const Divisor divisor = DivisorOf(b, w, args.flag(6), args.integer_or(7, 0));
  const Expr grad = DivideBy(Collapse(Operand(args, 0, compute), kRank), divisor);
  if (Tiles(w)) {
    const int64_t lead = grad.dims()[0];
    const Expr tiled =
        Reshaped(grad, TiledDims(lead, w, true)).BroadcastTo(TiledDims(lead, w, false));
    return {Reshaped(Untiled(tiled, w), self.dims()).As(self.dtype())};
  }
  // Each input element sums the windows that hold it: the gradient, spread out by the stride.
  std::vector<hlo::WindowDimension> window(w.rank());
  for (size_t d = 0; d < w.rank(); ++d) {
    const int64_t span = (w.output[d] - 1) * w.stride[d] + 1;
    const int64_t low = w.kernel[d] - 1 - w.padding[d];
    window[d] = {.size = w.kernel[d],
                 .stride = 1,
                 .padding_low = low,
                 .padding_high = w.input[d] - span - low + w.kernel[d] - 1,
                 .base_dilation = w.stride[d]};
  }
  return {Reshaped(WindowSum(grad, window), self.dims()).As(self.dtype())};
}

constexpr Row kRows[] = {
    {"aten::max_pool2d_with_indices", LowerMaxPool<2>},
    {"aten::max_pool2d_with_indices_backward", LowerMaxPoolBackward<2>},
    {"aten::max_pool3d_with_indices", LowerMaxPool<3>},
    {"aten::max_pool3d_with_indices_backward", LowerMaxPoolBackward<3>},
    {"aten::avg_pool2d", LowerAvgPool<2>},
    {"aten::avg_pool2d_backward", LowerAvgPoolBackward<2>},
    {"aten::avg_pool3d", LowerAvgPool<3>},
    {"aten::avg_pool3d_backward", LowerAvgPoolBackward<3>},
};

}  // namespace

constinit const std::span<const Row> kPoolingRows = kRows;

}  // namespace neuron::lowering
