// Nearest and linear interpolation, dimension by dimension. The positions are constants of the
// plan.
#include <cmath>

#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

// The scale ATen computes in float: from a given factor, or from the extents.
float ScaleOf(const Args& args, size_t i, int64_t in, int64_t out) {
  if (!args.is_none(i) && args.number(i) > 0) return static_cast<float>(1.0 / args.number(i));
  return static_cast<float>(in) / static_cast<float>(out);
}

std::vector<int64_t> NearestPositions(float scale, int64_t in, int64_t out, bool exact) {
  std::vector<int64_t> positions;
  for (int64_t o = 0; o < out; ++o) {
    const float at = exact ? (static_cast<float>(o) + 0.5F) * scale : static_cast<float>(o) * scale;
    positions.push_back(std::min(static_cast<int64_t>(std::floor(at)), in - 1));
  }
  return positions;
}

// k if output o reads input o / k everywhere, else 0.
int64_t IntegerFactor(const std::vector<int64_t>& positions, int64_t in) {
  const auto out = static_cast<int64_t>(positions.size());
  if (in == 0 || out % in != 0) return 0;
  const int64_t k = out / in;
  for (int64_t o = 0; o < out; ++o) {
    if (positions[static_cast<size_t>(o)] != o / k) return 0;
  }
  return k;
}

Expr NearestAlong(Expr x, int64_t dim, const std::vector<int64_t>& positions) {
  const auto d = static_cast<size_t>(dim);
  const int64_t k = IntegerFactor(positions, x.dims()[d]);
  if (k == 1) return x;
  if (k == 0) return TakeAlong(x, dim, ConstantS32(x.builder(), positions));
  Dims wide = x.dims(), merged = x.dims();
  wide.insert(wide.begin() + dim + 1, 1);
  x = Reshaped(x, wide);
  wide[d + 1] = k;
  merged[d] *= k;
  return Reshaped(x.BroadcastTo(wide), merged);
}

// Gradients of all outputs that read one input, summed.
Expr NearestBackAlong(Expr grad, int64_t dim, int64_t in, const std::vector<int64_t>& positions) {
  Builder& b = grad.builder();
  const auto d = static_cast<size_t>(dim);
  const int64_t k = IntegerFactor(positions, in);
  if (k == 1) return grad;
  Dims dims = grad.dims();
  dims[d] = in;
  if (k == 0) {
    const Expr zeros = {b, b.Full(hlo::Shape::Array(grad.dtype(), dims), 0)};
    return ScatterAlong(zeros, dim, ConstantS32(b, positions), grad, ScatterMode::kAdd);
  }
  Dims split = dims;
  split.insert(split.begin() + dim + 1, k);
  return {b, b.ReduceSum(Reshaped(grad, split), {dim + 1})};
}

// (self, output_size, scales...) for kRank spatial dimensions.
template <int kRank, bool kExact>
Values LowerNearest(Builder&, Args& args) {
  Expr x = Tensor(args, 0);
  const Dims output = args.integers(1);
  for (size_t i = 0; i < kRank; ++i) {
    const int64_t in = x.dims()[i + 2];
    const float scale = ScaleOf(args, i + 2, in, output[i]);
    x = NearestAlong(x, static_cast<int64_t>(i) + 2,
                     NearestPositions(scale, in, output[i], kExact));
  }
  return {x};
}
// (grad_output, output_size, input_size, scales...)
template <int kRank, bool kExact>
Values LowerNearestBackward(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims output = args.integers(1), input = args.integers(2);
  for (size_t i = 0; i < kRank; ++i) {
    const float scale = ScaleOf(args, i + 3, input[i + 2], output[i]);
    x = NearestBackAlong(x, static_cast<int64_t>(i) + 2, input[i + 2],
                         NearestPositions(scale, input[i + 2], output[i], kExact));
  }
  return {x.As(dtype)};
}

struct LinearMap {
  std::vector<int64_t> low, high;
  std::vector<float> low_weight, high_weight;
};
LinearMap LinearPositions(const Args& args, size_t scale, int64_t in, int64_t out, bool corners) {
  LinearMap map;
  const float step = corners
                         ? (out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0)
                         : ScaleOf(args, scale, in, out);
  for (int64_t o = 0; o < out; ++o) {
    const auto at = static_cast<float>(o);
    const float real = corners ? step * at : std::max(step * (at + 0.5F) - 0.5F, 0.0F);
    const int64_t low = std::min(static_cast<int64_t>(real), in - 1);
    const float fraction = std::min(std::max(real - static_cast<float>(low), 0.0F), 1.0F);
    map.low.push_back(low);
    map.high.push_back(std::min(low + 1, in - 1));
    map.low_weight.push_back(1.0F - fraction);
    map.high_weight.push_back(fraction);
  }
  return map;
}

Expr WeightAlong(Expr x, int64_t dim, const std::vector<float>& weights) {
  Dims dims(x.dims().size(), 1);
  dims[static_cast<size_t>(dim)] = static_cast<int64_t>(weights.size());
  return Reshaped(ConstantF32(x.builder(), weights).As(x.dtype()), dims);
}

// (self, output_size, align_corners, scales...)
template <int kRank>
Values LowerLinear(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  if (!IsFloating(dtype)) {
    b.Fail(Unimplemented(args.overload(), ": ", DTypeName(dtype), " (CPU's fixed-point rounding)"));
    return {};
  }
  Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims output = args.integers(1);
  for (size_t i = kRank; i-- > 0;) {
    const auto dim = static_cast<int64_t>(i) + 2;
    const LinearMap map = LinearPositions(args, i + 3, x.dims()[i + 2], output[i], args.flag(2));
    x = TakeAlong(x, dim, ConstantS32(b, map.low)) * WeightAlong(x, dim, map.low_weight) +
        TakeAlong(x, dim, ConstantS32(b, map.high)) * WeightAlong(x, dim, map.high_weight);
  }
  return {x.As(dtype)};
}
// (grad_output, output_size, input_size, align_corners, scales...)
template <int kRank>
Values LowerLinearBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims output = args.integers(1), input = args.integers(2);
  for (size_t i = 0; i < kRank; ++i) {
    const auto dim = static_cast<int64_t>(i) + 2;
    const LinearMap map = LinearPositions(args, i + 4, input[i + 2], output[i], args.flag(3));
    Dims dims = x.dims();
    dims[i + 2] = input[i + 2];
    Expr sum = {b, b.Full(hlo::Shape::Array(x.dtype(), dims), 0)};
    sum = ScatterAlong(sum, dim, ConstantS32(b, map.low), x * WeightAlong(x, dim, map.low_weight),
                       ScatterMode::kAdd);
    x = ScatterAlong(sum, dim, ConstantS32(b, map.high), x * WeightAlong(x, dim, map.high_weight),
                     ScatterMode::kAdd);
  }
  return {x.As(dtype)};
}

constexpr auto kAny = Native::kAny;

constexpr Row kRows[] = {
    {"aten::upsample_nearest1d", LowerNearest<1, false>, kAny},
    {"aten::upsample_nearest2d", LowerNearest<2, false>, kAny},
    {"aten::upsample_nearest3d", LowerNearest<3, false>, kAny},
    {"aten::_upsample_nearest_exact1d", LowerNearest<1, true>, kAny},
    {"aten::_upsample_nearest_exact2d", LowerNearest<2, true>, kAny},
    {"aten::_upsample_nearest_exact3d", LowerNearest<3, true>, kAny},
    {"aten::upsample_nearest1d_backward", LowerNearestBackward<1, false>},
    {"aten::upsample_nearest2d_backward", LowerNearestBackward<2, false>},
    {"aten::upsample_nearest3d_backward", LowerNearestBackward<3, false>},
    {"aten::_upsample_nearest_exact1d_backward", LowerNearestBackward<1, true>},
    {"aten::_upsample_nearest_exact2d_backward", LowerNearestBackward<2, true>},
    {"aten::_upsample_nearest_exact3d_backward", LowerNearestBackward<3, true>},
    {"aten::upsample_linear1d", LowerLinear<1>},
    {"aten::upsample_bilinear2d", LowerLinear<2>},
    {"aten::upsample_trilinear3d", LowerLinear<3>},
    {"aten::upsample_linear1d_backward", LowerLinearBackward<1>},
    {"aten::upsample_bilinear2d_backward", LowerLinearBackward<2>},
    {"aten::upsample_trilinear3d_backward", LowerLinearBackward<3>},
};

}  // namespace

constinit const std::span<const Row> kUpsampleRows = kRows;

}  // namespace neuron::lowering
