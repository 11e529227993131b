// Nearest, linear and cubic interpolation, dimension by dimension. Positions and weights are
// constants of the plan.
#include <algorithm>
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

// Along one dimension output o is the sum over k of weights[k][o] x[places[k][o]]. A tap that an
// output does not need has weight 0 and a place that another tap reads.
struct Taps {
  Taps(size_t taps, int64_t out)
      : places(taps, std::vector<int64_t>(static_cast<size_t>(out))),
        weights(taps, std::vector<float>(static_cast<size_t>(out))) {}
  void Set(size_t tap, int64_t o, int64_t place, float weight) {
    places[tap][static_cast<size_t>(o)] = place;
    weights[tap][static_cast<size_t>(o)] = weight;
  }
  std::vector<std::vector<int64_t>> places;
  std::vector<std::vector<float>> weights;
};

// Of one dimension: extents, input step per output, and whether corners coincide.
struct Axis {
  int64_t in = 0, out = 0;
  float step = 0;
  bool corners = false;
};
using MakeTaps = Taps (*)(const Axis& axis);

Taps LinearTaps(const Axis& axis) {
  Taps taps(2, axis.out);
  for (int64_t o = 0; o < axis.out; ++o) {
    const auto at = static_cast<float>(o);
    const float real =
        axis.corners ? axis.step * at : std::max(axis.step * (at + 0.5F) - 0.5F, 0.0F);
    const int64_t low = std::min(static_cast<int64_t>(real), axis.in - 1);
    const float fraction = std::min(std::max(real - static_cast<float>(low), 0.0F), 1.0F);
    taps.Set(0, o, low, 1.0F - fraction);
    taps.Set(1, o, std::min(low + 1, axis.in - 1), fraction);
  }
  return taps;
}

// Keys' cubic convolution at distance |x| below 1, and from 1 to 2.
float CubicNear(float x, float a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
float CubicFar(float x, float a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

Taps CubicTaps(const Axis& axis) {
  constexpr float kA = -0.75F;  // ATen's, as OpenCV's
  Taps taps(4, axis.out);
  for (int64_t o = 0; o < axis.out; ++o) {
    const auto at = static_cast<float>(o);
    const float real = axis.corners ? axis.step * at : axis.step * (at + 0.5F) - 0.5F;
    const auto low = static_cast<int64_t>(std::floor(real));
    const float t = std::min(std::max(real - static_cast<float>(low), 0.0F), 1.0F);
    const float weights[] = {CubicFar(t + 1, kA), CubicNear(t, kA), CubicNear(1 - t, kA),
                             CubicFar(2 - t, kA)};
    for (int64_t k = 0; k < 4; ++k)
      taps.Set(static_cast<size_t>(k), o, std::clamp<int64_t>(low - 1 + k, 0, axis.in - 1),
               weights[k]);
  }
  return taps;
}

// Antialiasing: the filter is as wide as the input pixels that one output covers, and its weights
// are normalised over those that exist.
template <bool kCubic>
float Filter(float x) {
  constexpr float kA = -0.5F;  // Pillow's
  x = std::abs(x);
  if (!kCubic) return x < 1 ? 1 - x : 0;
  return x < 1 ? CubicNear(x, kA) : x < 2 ? CubicFar(x, kA) : 0;
}
template <bool kCubic>
Taps AntialiasTaps(const Axis& axis) {
  const float widening = std::max(axis.step, 1.0F);
  const float support = (kCubic ? 2.0F : 1.0F) * widening;
  const auto count = static_cast<size_t>(std::ceil(support)) * 2 + 1;
  Taps taps(count, axis.out);
  for (int64_t o = 0; o < axis.out; ++o) {
    const float centre = axis.step * (static_cast<float>(o) + 0.5F);
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5F), 0);
    const int64_t end = std::min(static_cast<int64_t>(centre + support + 0.5F), axis.in);
    std::vector<float> weights;
    float total = 0;
    for (int64_t place = first; place < end && weights.size() < count; ++place) {
      weights.push_back(Filter<kCubic>((static_cast<float>(place) - centre + 0.5F) / widening));
      total += weights.back();
    }
    for (size_t k = 0; k < count; ++k) {
      const bool used = k < weights.size();
      taps.Set(k, o, std::min(first + (used ? static_cast<int64_t>(k) : 0), axis.in - 1),
               used && total != 0 ? weights[k] / total : 0);
    }
  }
  return taps;
}

Axis AxisOf(const Args& args, size_t scale, int64_t in, int64_t out, bool corners) {
  const float ends = out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0;
  return {in, out, corners ? ends : ScaleOf(args, scale, in, out), corners};
}

Expr WeightAlong(Expr x, int64_t dim, const std::vector<float>& weights) {
  Dims dims(x.dims().size(), 1);
  dims[static_cast<size_t>(dim)] = static_cast<int64_t>(weights.size());
  return Reshaped(ConstantF32(x.builder(), weights).As(x.dtype()), dims);
}

// (self, output_size, align_corners, scales...)
template <int kRank, MakeTaps kTaps>
Values LowerTaps(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  if (!IsFloating(dtype)) {
    b.Fail(Unimplemented(args.overload(), ": ", DTypeName(dtype), " (CPU's fixed-point rounding)"));
    return {};
  }
  Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims output = args.integers(1);
  for (size_t i = kRank; i-- > 0;) {
    const auto dim = static_cast<int64_t>(i) + 2;
    const Taps taps = kTaps(AxisOf(args, i + 3, x.dims()[i + 2], output[i], args.flag(2)));
    Expr sum;
    for (size_t k = 0; k < taps.places.size(); ++k) {
      const Expr term =
          TakeAlong(x, dim, ConstantS32(b, taps.places[k])) * WeightAlong(x, dim, taps.weights[k]);
      sum = k == 0 ? term : sum + term;
    }
    x = sum;
  }
  return {x.As(dtype)};
}
// (grad_output, output_size, input_size, align_corners, scales...)
template <int kRank, MakeTaps kTaps>
Values LowerTapsBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims output = args.integers(1), input = args.integers(2);
  for (size_t i = 0; i < kRank; ++i) {
    const auto dim = static_cast<int64_t>(i) + 2;
    const Taps taps = kTaps(AxisOf(args, i + 4, input[i + 2], output[i], args.flag(3)));
    Dims dims = x.dims();
    dims[i + 2] = input[i + 2];
    Expr sum = {b, b.Full(hlo::Shape::Array(x.dtype(), dims), 0)};
    for (size_t k = 0; k < taps.places.size(); ++k)
      sum = ScatterAlong(sum, dim, ConstantS32(b, taps.places[k]),
                         x * WeightAlong(x, dim, taps.weights[k]), ScatterMode::kAdd);
    x = sum;
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
#define TAPS(name, rank, taps)                               \
  {"aten::" name, LowerTaps<rank, taps>}, {                  \
    "aten::" name "_backward", LowerTapsBackward<rank, taps> \
  }
    TAPS("upsample_linear1d", 1, LinearTaps),
    TAPS("upsample_bilinear2d", 2, LinearTaps),
    TAPS("upsample_trilinear3d", 3, LinearTaps),
    TAPS("upsample_bicubic2d", 2, CubicTaps),
    TAPS("_upsample_bilinear2d_aa", 2, AntialiasTaps<false>),
    TAPS("_upsample_bicubic2d_aa", 2, AntialiasTaps<true>),
#undef TAPS
};

}  // namespace

constinit const std::span<const Row> kUpsampleRows = kRows;

}  // namespace neuron::lowering
