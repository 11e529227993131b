// Reflection and replication padding, and their gradients, dimension by dimension.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

enum class Edge : uint8_t { kReflect, kReplicate };

Expr Part(Expr x, int64_t from, int64_t to, int64_t dim) {
  return {x.builder(), x.builder().SliceInDim(x, from, to, 1, dim)};
}
Expr Reversed(Expr x, int64_t dim) { return {x.builder(), x.builder().Reverse(x, {dim})}; }

// Negative pads cut, after the positive ones are in place: an edge may be all that is left.
Expr PadAlong(Expr x, int64_t dim, int64_t low, int64_t high, Edge edge) {
  Builder& b = x.builder();
  const auto d = static_cast<size_t>(dim);
  const int64_t n = x.dims()[d];
  const auto stretched = [&](int64_t at, int64_t count) {
    Dims dims = x.dims();
    dims[d] = count;
    return Part(x, at, at + 1, dim).BroadcastTo(dims);
  };
  const bool reflect = edge == Edge::kReflect;
  std::vector<Value> parts;
  if (low > 0)
    parts.push_back(reflect ? Reversed(Part(x, 1, low + 1, dim), dim) : stretched(0, low));
  parts.push_back(x);
  if (high > 0) {
    parts.push_back(reflect ? Reversed(Part(x, n - 1 - high, n - 1, dim), dim)
                            : stretched(n - 1, high));
  }
  if (parts.size() > 1) x = {b, b.Concatenate(parts, dim)};
  if (low >= 0 && high >= 0) return x;
  return Part(x, std::max<int64_t>(-low, 0), x.dims()[d] - std::max<int64_t>(-high, 0), dim);
}

// x placed from `at` on in a zero tensor whose extent along dim is n.
Expr Placed(Expr x, int64_t dim, int64_t at, int64_t n) {
  std::vector<hlo::PaddingDimension> padding(x.dims().size());
  const auto d = static_cast<size_t>(dim);
  padding[d] = {.low = at, .high = n - at - x.dims()[d], .interior = 0};
  return {x.builder(), x.builder().Pad(x, x.Like(0), padding)};
}

Expr BackAlong(Expr grad, int64_t dim, int64_t n, int64_t low, int64_t high, Edge edge) {
  const int64_t cut_low = std::max<int64_t>(-low, 0);
  const bool cuts = low < 0 || high < 0;
  low = std::max<int64_t>(low, 0);
  high = std::max<int64_t>(high, 0);
  if (cuts) grad = Placed(grad, dim, cut_low, low + n + high);
  const bool reflect = edge == Edge::kReflect;
  Expr sum = Part(grad, low, low + n, dim);
  if (low > 0) {
    const Expr part = Part(grad, 0, low, dim);
    sum = sum + (reflect ? Placed(Reversed(part, dim), dim, 1, n)
                         : Placed(KeepSum(part, {dim}), dim, 0, n));
  }
  if (high > 0) {
    const Expr part = Part(grad, low + n, low + n + high, dim);
    sum = sum + (reflect ? Placed(Reversed(part, dim), dim, n - 1 - high, n)
                         : Placed(KeepSum(part, {dim}), dim, n - 1, n));
  }
  return sum;
}

template <Edge kEdge>  // (self, padding): pairs from the last dimension on
Values LowerPad(Builder&, Args& args) {
  Expr x = Tensor(args, 0);
  const Dims pad = args.integers(1);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    x = PadAlong(x, x.rank() - 1 - static_cast<int64_t>(i), pad[2 * i], pad[2 * i + 1], kEdge);
  }
  return {x};
}
template <Edge kEdge>  // (grad_output, self, padding)
Values LowerPadBackward(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr self = Tensor(args, 1);
  Expr grad = Operand(args, 0, ComputeType(dtype));
  const Dims pad = args.integers(2);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = self.rank() - 1 - static_cast<int64_t>(i);
    grad = BackAlong(grad, dim, self.dims()[static_cast<size_t>(dim)], pad[2 * i], pad[2 * i + 1],
                     kEdge);
  }
  return {grad.As(dtype)};
}

constexpr auto kAny = Native::kAny;

constexpr Row kRows[] = {
#define PAD(name, edge)                                     \
  {"aten::" name, LowerPad<Edge::edge>, kAny}, {            \
    "aten::" name "_backward", LowerPadBackward<Edge::edge> \
  }
    PAD("reflection_pad1d", kReflect),    PAD("reflection_pad2d", kReflect),
    PAD("reflection_pad3d", kReflect),    PAD("replication_pad1d", kReplicate),
    PAD("replication_pad2d", kReplicate), PAD("replication_pad3d", kReplicate),
#undef PAD
};

}  // namespace

constinit const std::span<const Row> kPaddingRows = kRows;

}  // namespace neuron::lowering
