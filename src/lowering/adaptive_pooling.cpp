// Adaptive average pooling over the last two or three dimensions.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

// Adaptive windows differ in length, but they factor by dimension: output = M x, with M[o, i] =
// 1 / length where i is in window o. M is made of comparisons; the Tensor engine does the rest.
Expr AveragingMatrix(Builder& b, int64_t out, int64_t in, DType dtype) {
  const Dims dims = {out, in};
  const Expr o = IotaS32(b, dims, 0), i = IotaS32(b, dims, 1);
  const Expr extent = o.LikeInt(in), count = o.LikeInt(out);
  const Expr start = (o * extent) / count;
  const Expr end = ((o + 1.0) * extent + o.LikeInt(out - 1)) / count;
  return Select((i >= start) && (i < end), 1.0 / (end - start).As(dtype), 0.0);
}

// matrix[o, i] applied to dimension `dim` of x; `transposed` applies its transpose.
Expr ApplyAlong(Expr x, Expr matrix, int64_t dim, bool transposed) {
  Builder& b = x.builder();
  hlo::DotDimensions dot;
  dot.lhs_contracting = {dim};
  dot.rhs_contracting = {transposed ? 0 : 1};
  const Expr y = {b, b.Dot(x, matrix, dot, x.dtype())};
  Dims permutation = AllDims(x.rank());
  permutation.pop_back();
  permutation.insert(permutation.begin() + dim, x.rank() - 1);
  return {b, b.Transpose(y, permutation)};
}

template <int kRank>  // (self, output_size)
Values LowerAdaptiveAvgPool(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  Dims output = args.integers(1);
  if (output.size() == 1) output.assign(kRank, output[0]);
  Expr x = self.As(ComputeType(self.dtype()));
  for (size_t d = 0; d < kRank; ++d) {
    const int64_t dim = x.rank() - kRank + static_cast<int64_t>(d);
    const int64_t in = x.dims()[static_cast<size_t>(dim)];
    const int64_t out = output[d];
    if (in % out == 0) {
      Dims split = x.dims();
      const int64_t window = in / out;
      split[static_cast<size_t>(dim)] = window;
      split.insert(split.begin() + dim, out);
      x = {b, b.ReduceSum(Reshaped(x, split), {dim + 1})};
      x = x / static_cast<double>(window);
    } else {
      x = ApplyAlong(x, AveragingMatrix(b, out, in, x.dtype()), dim, false);
    }
  }
  return {x.As(self.dtype())};
}

template <int kRank>  // (grad, self)
Values LowerAdaptiveAvgPoolBackward(Builder& b, Args& args) {
  const Expr self = Tensor(args, 1);
  Expr x = Operand(args, 0, ComputeType(self.dtype()));
  for (int64_t dim = x.rank() - kRank; dim < x.rank(); ++dim) {
    const auto d = static_cast<size_t>(dim);
    const int64_t in = self.dims()[d], out = x.dims()[d];
    if (in % out == 0) {
      const int64_t window = in / out;
      Dims wide = x.dims(), merged = x.dims();
      wide.insert(wide.begin() + dim + 1, 1);
      x = Reshaped(x / static_cast<double>(window), wide);
      wide[d + 1] = window;
      merged[d] = in;
      x = Reshaped(x.BroadcastTo(wide), merged);
    } else {
      x = ApplyAlong(x, AveragingMatrix(b, out, in, x.dtype()), dim, true);
    }
  }
  return {x.As(self.dtype())};
}

constexpr Row kRows[] = {
    {"aten::_adaptive_avg_pool2d", LowerAdaptiveAvgPool<2>},
    {"aten::_adaptive_avg_pool2d_backward", LowerAdaptiveAvgPoolBackward<2>},
    {"aten::_adaptive_avg_pool3d", LowerAdaptiveAvgPool<3>},
    {"aten::_adaptive_avg_pool3d_backward", LowerAdaptiveAvgPoolBackward<3>},
};

}  // namespace

constinit const std::span<const Row> kAdaptivePoolingRows = kRows;

}  // namespace neuron::lowering
