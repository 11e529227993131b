// Unfold and Fold: the windows of an image as columns, and columns added back to an image. One
// strided slice, or one spread-out padding, per place in the window.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

// Of the last two dimensions.
struct Patches {
  Dims kernel, dilation, padding, stride, image, windows;
};
Dims Pair(const Args& args, size_t i) {
  Dims pair = args.integers(i);
  if (pair.size() == 1) pair.push_back(pair[0]);
  return pair;
}
// kernel_size, dilation, padding, stride from argument `i` on
Patches ReadPatches(const Args& args, size_t i, Dims image) {
  Patches p{Pair(args, i),     Pair(args, i + 1), Pair(args, i + 2),
            Pair(args, i + 3), std::move(image),  {}};
  for (size_t d = 0; d < 2; ++d)
    p.windows.push_back(
        (p.image[d] + 2 * p.padding[d] - p.dilation[d] * (p.kernel[d] - 1) - 1) / p.stride[d] + 1);
  return p;
}

// (self, kernel_size, dilation, padding, stride): [N, C, H, W] to [N, C * places, windows]
Values LowerIm2col(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  const Dims& dims = self.dims();
  const Patches p = ReadPatches(args, 1, {dims[dims.size() - 2], dims[dims.size() - 1]});
  const int64_t n = dims.size() == 4 ? dims[0] : 1, channels = dims[dims.size() - 3];
  std::vector<hlo::PaddingDimension> padding(4);
  for (size_t d = 0; d < 2; ++d)
    padding[d + 2] = {.low = p.padding[d], .high = p.padding[d], .interior = 0};
  const Expr image = Reshaped(self, {n, channels, p.image[0], p.image[1]});
  const Expr x = {b, b.Pad(image, image.Like(0), padding)};
  std::vector<hlo::Value> places;
  for (int64_t i = 0; i < p.kernel[0]; ++i) {
    for (int64_t j = 0; j < p.kernel[1]; ++j) {
      const int64_t first[] = {i * p.dilation[0], j * p.dilation[1]};
      const Expr part = {b, b.Slice(x, {0, 0, first[0], first[1]},
                                    {n, channels, first[0] + (p.windows[0] - 1) * p.stride[0] + 1,
                                     first[1] + (p.windows[1] - 1) * p.stride[1] + 1},
                                    {1, 1, p.stride[0], p.stride[1]})};
      places.push_back(Reshaped(part, {n, channels, 1, Product(p.windows)}));
    }
  }
  const Expr all = {b, b.Concatenate(places, 2)};
  Dims result = {channels * p.kernel[0] * p.kernel[1], Product(p.windows)};
  if (dims.size() == 4) result.insert(result.begin(), n);
  return {Reshaped(all, result)};
}

// (self, output_size, kernel_size, dilation, padding, stride)
Values LowerCol2im(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr self = Operand(args, 0, ComputeType(dtype));
  const Patches p = ReadPatches(args, 2, Pair(args, 1));
  const Dims& dims = self.dims();
  const int64_t taps = p.kernel[0] * p.kernel[1];
  const int64_t n = dims.size() == 3 ? dims[0] : 1, channels = dims[dims.size() - 2] / taps;
  const Expr columns = Reshaped(self, {n, channels, taps, p.windows[0], p.windows[1]});
  Expr sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t at[] = {tap / p.kernel[1], tap % p.kernel[1]};
    std::vector<hlo::PaddingDimension> padding(4);
    for (size_t d = 0; d < 2; ++d) {
      const int64_t low = at[d] * p.dilation[d] - p.padding[d];
      const int64_t span = (p.windows[d] - 1) * p.stride[d] + 1;
      padding[d + 2] = {.low = low, .high = p.image[d] - low - span, .interior = p.stride[d] - 1};
    }
    const Expr part = Reshaped({b, b.SliceInDim(columns, tap, tap + 1, 1, 2)},
                               {n, channels, p.windows[0], p.windows[1]});
    const Expr spread = {b, b.Pad(part, part.Like(0), padding)};
    sum = sum.valid() ? sum + spread : spread;
  }
  Dims result = {channels, p.image[0], p.image[1]};
  if (dims.size() == 3) result.insert(result.begin(), n);
  return {Reshaped(sum, result).As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::im2col", LowerIm2col, Native::kAny},
    {"aten::col2im", LowerCol2im},
};

}  // namespace

constinit const std::span<const Row> kPatchesRows = kRows;

}  // namespace neuron::lowering
