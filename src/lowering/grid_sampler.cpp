// grid_sample: every output reads the input at a position of its own, given as data. Per axis that
// is a few taps (1 nearest, 2 linear, 4 cubic), per output their products; a tap is a gathered row
// of channels, and its gradient a scattered one.
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;
using hlo::Value;

// at::native::detail::GridSamplerInterpolation and GridSamplerPadding
enum class Interpolation : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum class Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

// A position along an axis in pixels, and its derivative by the grid's coordinate.
struct Position {
  Expr at, slope;
};

// Grid coordinates run from -1 to 1: between the centres of the outermost pixels, or their edges.
Position FromGrid(Expr g, int64_t size, bool corners) {
  const auto n = static_cast<double>(size);
  const double scale = corners ? (n - 1) / 2 : n / 2;
  const Expr at = (g + 1.0) * scale;
  return {corners ? at : at - 0.5, g.Like(scale).BroadcastTo(g.dims())};
}

Position Clipped(Position p, int64_t size) {  // NaN becomes 0
  const auto last = static_cast<double>(size - 1);
  const Expr inside = (p.at > 0.0) && (p.at < last);
  return {Minimum(Select(p.at > 0.0, p.at, 0.0), last), Select(inside, p.slope, 0.0)};
}

// At the outermost centres or edges the image is mirrored, again and again.
Position Reflected(Position p, int64_t size, bool corners) {
  const double low = corners ? 0 : -0.5;
  const double span = corners ? static_cast<double>(size - 1) : static_cast<double>(size);
  if (span == 0) return {p.at * 0.0, p.slope * 0.0};
  const Expr from_low = p.at - low;
  const Expr distance = Abs(from_low);
  const Expr flips = Floor(distance / span);
  const Expr extra = Remainder(distance, distance.Like(span));
  const Expr even = Remainder(flips, flips.Like(2)) == 0.0;
  const Expr at = Select(even, extra, span - extra) + low;
  return {at, Select((from_low < 0.0) ^ !even, -p.slope, p.slope)};
}

Position Padded(Position p, int64_t size, Padding padding, bool corners) {
  if (padding == Padding::kReflection) p = Reflected(p, size, corners);
  if (padding != Padding::kZeros) return Clipped(p, size);
  // What is far outside reads nothing, wherever it is: near enough for an integer.
  const Expr low = Select(p.at > -4.0, p.at, -4.0);
  return {Minimum(low, static_cast<double>(size + 3)), p.slope};
}

// One tap of an axis, [N, outputs...]: which pixel, if it exists, and how much it counts.
struct Tap {
  Expr pixel;   // s32, legal even where there is none
  Expr exists;  // pred
  Expr weight;
  Expr slope;  // d weight / d grid coordinate; not valid where it is 0 everywhere
};

Tap MakeTap(Expr pixel, int64_t size, Expr weight, Expr slope) {
  const Expr exists = (pixel >= 0.0) && (pixel <= static_cast<double>(size - 1));
  const Expr legal = Minimum(Maximum(pixel, 0.0), static_cast<double>(size - 1));
  return {legal.As(DType::kS32), exists, weight, slope};
}

// Keys' cubic convolution and its derivative at distance |x| below 1, and from 1 to 2.
constexpr double kA = -0.75;
Expr CubicNear(Expr x) { return ((x * (kA + 2)) - (kA + 3)) * x * x + 1.0; }
Expr CubicFar(Expr x) { return ((x * kA - 5 * kA) * x + 8 * kA) * x - 4 * kA; }
Expr CubicNearSlope(Expr x) { return (x * (3 * (kA + 2)) - 2 * (kA + 3)) * x; }
Expr CubicFarSlope(Expr x) { return (x * (3 * kA) - 10 * kA) * x + 8 * kA; }

struct Options {
  Interpolation interpolation;
  Padding padding;
  bool corners;
};

std::vector<Tap> TapsOf(Expr grid, int64_t size, const Options& o) {
  const Position raw = FromGrid(grid, size, o.corners);
  if (o.interpolation == Interpolation::kNearest) {
    const Position p = Padded(raw, size, o.padding, o.corners);
    return {MakeTap(RoundNearestEven(p.at), size, p.at.Like(1).BroadcastTo(p.at.dims()), {})};
  }
  if (o.interpolation == Interpolation::kLinear) {
    const Position p = Padded(raw, size, o.padding, o.corners);
    const Expr low = Floor(p.at);
    const Expr fraction = p.at - low;
    return {MakeTap(low, size, 1.0 - fraction, -p.slope),
            MakeTap(low + 1.0, size, fraction, p.slope)};
  }
  // Cubic weights follow from where the position is; each pixel is padded by itself.
  const Expr at =
      o.padding == Padding::kZeros ? Padded(raw, size, o.padding, o.corners).at : raw.at;
  const Expr low = Floor(at);
  const Expr t = at - low;
  const Expr far[] = {t + 1.0, 2.0 - t}, near[] = {t, 1.0 - t};
  const Expr weights[] = {CubicFar(far[0]), CubicNear(near[0]), CubicNear(near[1]),
                          CubicFar(far[1])};
  const Expr slopes[] = {CubicFarSlope(far[0]), CubicNearSlope(near[0]), -CubicNearSlope(near[1]),
                         -CubicFarSlope(far[1])};
  std::vector<Tap> taps;
  for (int k = 0; k < 4; ++k) {
    const Position pixel = Padded({low + (k - 1.0), raw.slope}, size, o.padding, o.corners);
    taps.push_back(MakeTap(pixel.at, size, weights[k], slopes[k] * raw.slope));
  }
  return taps;
}

// The image as rows of channels, and the taps of every spatial axis, outermost first.
struct Sampler {
  Expr rows;        // [N * pixels, C]
  Expr image;       // s32 [N, outputs...]: the first row of the image
  Dims image_dims;  // of the input, [N, C, spatial...]
  std::vector<std::vector<Tap>> taps;
};

// [N, C, spatial...] to [N, spatial..., C], or back.
Expr ChannelsLast(Expr x, bool back) {
  Dims order = AllDims(x.rank());
  const auto first = order.begin() + 1;
  if (back)
    std::rotate(first, order.end() - 1, order.end());
  else
    std::rotate(first, first + 1, order.end());
  return {x.builder(), x.builder().Transpose(x, order)};
}

// The grid's last dimension names the coordinates innermost axis first: (x, y, z).
Sampler ReadSampler(Args& args, size_t input, DType compute) {
  Builder& b = args.builder();
  const Expr x = Operand(args, input, compute), grid = Operand(args, input + 1, compute);
  const Options options = {static_cast<Interpolation>(args.integer(input + 2)),
                           static_cast<Padding>(args.integer(input + 3)), args.flag(input + 4)};
  const int64_t axes = x.rank() - 2;
  Dims outputs = grid.dims();
  outputs.pop_back();
  Sampler s;
  s.image_dims = x.dims();
  const Expr last = ChannelsLast(x, false);
  int64_t pixels = 1;
  for (size_t d = 2; d < x.dims().size(); ++d) pixels *= x.dims()[d];
  s.rows = Reshaped(last, {x.dims()[0] * pixels, x.dims()[1]});
  const Expr batch = IotaS32(b, outputs, 0);
  s.image = batch * batch.LikeInt(pixels);
  for (int64_t axis = 0; axis < axes; ++axis) {
    const int64_t place = axes - 1 - axis;
    const Expr coordinate =
        Reshaped({b, b.SliceInDim(grid, place, place + 1, 1, grid.rank() - 1)}, outputs);
    s.taps.push_back(TapsOf(coordinate, x.dims()[static_cast<size_t>(axis) + 2], options));
  }
  return s;
}

// Calls visit(taps, one per axis) for every combination.
template <typename F>
void ForEachCorner(const Sampler& s, F&& visit) {
  std::vector<size_t> choice(s.taps.size(), 0);
  while (true) {
    std::vector<const Tap*> taps;
    for (size_t axis = 0; axis < choice.size(); ++axis) taps.push_back(&s.taps[axis][choice[axis]]);
    visit(taps);
    size_t axis = choice.size();
    while (axis > 0 && ++choice[axis - 1] == s.taps[axis - 1].size()) choice[--axis] = 0;
    if (axis == 0) return;
  }
}

Expr RowOf(const Sampler& s, const std::vector<const Tap*>& taps) {
  Expr place;
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const int64_t extent = s.image_dims[axis + 2];
    place = axis == 0 ? taps[axis]->pixel : place * place.LikeInt(extent) + taps[axis]->pixel;
  }
  return s.image + place;
}
Expr Exists(const std::vector<const Tap*>& taps) {
  Expr all = taps[0]->exists;
  for (size_t axis = 1; axis < taps.size(); ++axis) all = all && taps[axis]->exists;
  return all;
}
// The product of the weights, with the slope in place of the weight of `by`.
Expr WeightOf(const std::vector<const Tap*>& taps, size_t by = SIZE_MAX) {
  Expr product;
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const Expr factor = axis == by ? taps[axis]->slope : taps[axis]->weight;
    product = axis == 0 ? factor : product * factor;
  }
  return product;
}
Expr AsColumn(Expr x) {  // [outputs...] -> [outputs..., 1]
  Dims dims = x.dims();
  dims.push_back(1);
  return Reshaped(x, dims);
}

bool IsEmpty(const Sampler& s) { return s.rows.num_elements() == 0 || s.image.num_elements() == 0; }

// (input, grid, interpolation_mode, padding_mode, align_corners)
Values LowerSample(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Sampler s = ReadSampler(args, 0, ComputeType(dtype));
  Dims outputs = s.image.dims();
  outputs.push_back(s.image_dims[1]);
  Expr sum = {b, b.Full(Shape::Array(s.rows.dtype(), outputs), 0)};
  if (!IsEmpty(s)) {
    ForEachCorner(s, [&](const std::vector<const Tap*>& taps) {
      const Expr value = TakeAlong(s.rows, 0, RowOf(s, taps));
      const Expr exists = AsColumn(Exists(taps)).BroadcastTo(outputs);
      sum = sum + Select(exists, value * AsColumn(WeightOf(taps)), 0.0);
    });
  }
  return {ChannelsLast(sum, true).As(dtype)};
}

// (grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask)
Values LowerSampleBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Sampler s = ReadSampler(args, 1, compute);
  const Expr grad = ChannelsLast(Operand(args, 0, compute), false);
  const Expr zero = {b, b.Full(Shape::Array(compute, s.image.dims()), 0)};
  Expr image = {b, b.Full(Shape::Array(compute, s.rows.dims()), 0)};
  std::vector<Expr> by_axis(s.taps.size(), zero);
  if (!IsEmpty(s)) {
    ForEachCorner(s, [&](const std::vector<const Tap*>& taps) {
      const Expr row = RowOf(s, taps), exists = Exists(taps);
      // What does not exist goes behind the end, where a scatter drops it.
      const Expr target = Select(exists, row, row.LikeInt(s.rows.dims()[0]));
      image = ScatterAlong(image, 0, target, grad * AsColumn(WeightOf(taps)), ScatterMode::kAdd);
      if (!taps[0]->slope.valid()) return;
      const Expr product = grad * TakeAlong(s.rows, 0, row);
      const Expr change = {b, b.ReduceSum(product, {product.rank() - 1})};
      for (size_t axis = 0; axis < taps.size(); ++axis)
        by_axis[axis] = by_axis[axis] + Select(exists, change * WeightOf(taps, axis), 0.0);
    });
  }
  Dims last = s.image_dims;
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  std::vector<Value> columns;
  for (size_t axis = by_axis.size(); axis-- > 0;) columns.push_back(AsColumn(by_axis[axis]));
  const Expr grid = {b, b.Concatenate(columns, grad.rank() - 1)};
  return {ChannelsLast(Reshaped(image, last), true).As(dtype), grid.As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::grid_sampler_2d", LowerSample, Native::kNone},
    {"aten::grid_sampler_2d_backward", LowerSampleBackward, Native::kNone},
    {"aten::grid_sampler_3d", LowerSample, Native::kNone},
    {"aten::grid_sampler_3d_backward", LowerSampleBackward, Native::kNone},
};

}  // namespace

constinit const std::span<const Row> kGridSamplerRows = kRows;

}  // namespace neuron::lowering
