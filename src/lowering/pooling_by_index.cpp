// Pooling whose windows differ in length, and unpooling: both go by flat places in a plane of the
// input, which is what PyTorch returns and takes as indices.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

// The last kRank dimensions are a plane, the others one.
Expr AsPlanes(Expr x, size_t rank) {
  Dims dims = {1};
  const size_t lead = x.dims().size() - rank;
  for (size_t d = 0; d < lead; ++d) dims[0] *= x.dims()[d];
  dims.insert(dims.end(), x.dims().begin() + static_cast<int64_t>(lead), x.dims().end());
  return Reshaped(x, dims);
}
Dims WithPlane(const Expr& like, const Dims& plane) {
  Dims dims(like.dims().begin(), like.dims().end() - static_cast<int64_t>(plane.size()));
  dims.insert(dims.end(), plane.begin(), plane.end());
  return dims;
}

// Adaptive windows of one dimension: [o][k] is the k-th place of window o. Short windows repeat
// their last place, which changes no maximum and comes after the first.
struct Windows {
  int64_t length = 0;
  std::vector<int64_t> places;  // [out * length]
};
Windows AdaptiveWindows(int64_t in, int64_t out) {
  Windows w;
  const auto start = [&](int64_t o) { return o * in / out; };
  const auto end = [&](int64_t o) { return ((o + 1) * in + out - 1) / out; };
  for (int64_t o = 0; o < out; ++o) w.length = std::max(w.length, end(o) - start(o));
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < w.length; ++k) w.places.push_back(std::min(start(o) + k, end(o) - 1));
  return w;
}

template <int kRank>  // (self, output_size) -> values, places in the plane
Values LowerAdaptiveMaxPool(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  Dims output = args.integers(1);
  if (output.size() == 1) output.assign(kRank, output[0]);
  const Dims result = WithPlane(self, output);
  if (Product(result) == 0) {
    return {b.Full(Shape::Array(self.dtype(), result), 0),
            b.Full(Shape::Array(DType::kS64, result), 0)};
  }
  // [B, o1, k1, o2, k2, ...], and the places in the plane of the same.
  Expr x = AsPlanes(self, kRank);
  std::vector<int64_t> table = {0};
  Dims order = {0}, kernel_order;
  int64_t taps = 1;
  for (size_t d = 0; d < kRank; ++d) {
    const auto at = static_cast<int64_t>(2 * d) + 1;
    const int64_t in = x.dims()[static_cast<size_t>(at)];
    const Windows w = AdaptiveWindows(in, output[d]);
    x = TakeAlong(x, at, Reshaped(ConstantS32(b, w.places), {output[d], w.length}));
    // Rows (windows so far, taps so far) times those of this dimension.
    const int64_t windows = static_cast<int64_t>(table.size()) / taps;
    std::vector<int64_t> next;
    for (int64_t i = 0; i < windows; ++i)
      for (int64_t o = 0; o < output[d]; ++o)
        for (int64_t t = 0; t < taps; ++t)
          for (int64_t k = 0; k < w.length; ++k)
            next.push_back(table[static_cast<size_t>(i * taps + t)] * in +
                           w.places[static_cast<size_t>(o * w.length + k)]);
    table = std::move(next);
    taps *= w.length;
    order.push_back(at);
    kernel_order.push_back(at + 1);
  }
  order.insert(order.end(), kernel_order.begin(), kernel_order.end());
  const int64_t planes = x.dims()[0], windows = Product(output);
  const Expr rows = Reshaped({b, b.Transpose(x, order)}, {planes, windows, taps});
  const Located best = Locate(rows, 2, true);
  const Expr hit = IotaS32(b, rows.dims(), 2) == best.index;
  const Expr places = Reshaped(ConstantS32(b, table), {1, windows, taps});
  const Expr place = KeepSum(Select(hit, places.BroadcastTo(rows.dims()), 0.0), {2});
  return {Reshaped(best.value, result).As(self.dtype()), Reshaped(place, result).As(DType::kS64)};
}

// What stands at `index` (argument number `argument`, places in planes of `plane`) in zeros.
Expr Placed(Args& args, Expr values, size_t argument, const Dims& plane, ScatterMode mode) {
  Builder& b = args.builder();
  const int64_t area = Product(plane), n = values.num_elements();
  const Dims dims = WithPlane(values, plane);
  const Expr zeros = {b, b.Full(Shape::Array(values.dtype(), {Product(dims)}), 0)};
  if (n == 0 || Product(dims) == 0) return Reshaped(zeros, dims);
  const int64_t planes = Product(dims) / area;
  const Expr index =
      CheckedIndex(args, Tensor(args, argument), {area, -1, DataError::kPlaceOutOfRange},
                   static_cast<int32_t>(argument), false);
  const Expr rows = Reshaped(index, {planes, n / planes});
  const Expr first = IotaS32(b, rows.dims(), 0);
  const Expr place = Reshaped(rows + first * first.LikeInt(area), {n});
  return Reshaped(ScatterAlong(zeros, 0, place, Reshaped(values, {n}), mode), dims);
}

template <int kRank>  // (grad_output, self, indices)
Values LowerAdaptiveMaxPoolBackward(Builder&, Args& args) {
  const Expr self = Tensor(args, 1);
  const Dims plane(self.dims().end() - kRank, self.dims().end());
  const Expr grad = Operand(args, 0, ComputeType(self.dtype()));
  return {Placed(args, grad, 2, plane, ScatterMode::kAdd).As(self.dtype())};
}

template <int kRank>  // (self, indices, output_size, ...)
Values LowerMaxUnpool(Builder&, Args& args) {
  return {Placed(args, Tensor(args, 0), 1, args.integers(2), ScatterMode::kReplace)};
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::adaptive_max_pool2d", LowerAdaptiveMaxPool<2>},
    {"aten::adaptive_max_pool3d", LowerAdaptiveMaxPool<3>},
    {"aten::adaptive_max_pool2d_backward", LowerAdaptiveMaxPoolBackward<2>, kNone},
    {"aten::adaptive_max_pool3d_backward", LowerAdaptiveMaxPoolBackward<3>, kNone},
    {"aten::max_unpool2d", LowerMaxUnpool<2>, kNone},
    {"aten::max_unpool3d", LowerMaxUnpool<3>, kNone},
};

}  // namespace

constinit const std::span<const Row> kPoolingByIndexRows = kRows;

}  // namespace neuron::lowering
