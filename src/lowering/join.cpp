// Tensors joined and rearranged: cat, stack, flip, roll, repeat, padding.
#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

// (tensors, dim); a tensor of shape [0] joins anything.
Values LowerCat(Builder& b, Args& args) {
  const DType dtype = args.ResultType({0});
  std::vector<Value> parts;
  int64_t rank = 1;
  Value any;
  for (const Value& x : args.tensors(0)) {
    any = x;
    if (x.rank() == 1 && x.dim(0) == 0) continue;
    parts.push_back(Cast({b, x}, dtype));
    rank = x.rank();
  }
  if (parts.empty()) return {b.Convert(any, dtype)};
  return {parts.size() == 1 ? parts[0]
                            : b.Concatenate(parts, WrapDim(args.integer_or(1, 0), rank))};
}

Values LowerStack(Builder& b, Args& args) {
  const DType dtype = args.ResultType({0});
  std::vector<Value> parts;
  int64_t dim = 0;
  for (const Value& x : args.tensors(0)) {
    dim = WrapDim(args.integer_or(1, 0), x.rank() + 1);
    Dims dims = x.shape().dims;
    dims.insert(dims.begin() + dim, 1);
    parts.push_back(b.Reshape(Cast({b, x}, dtype), dims));
  }
  return {parts.size() == 1 ? parts[0] : b.Concatenate(parts, dim)};
}

Values LowerFlip(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  Dims dims = args.integers(1);
  for (int64_t& d : dims) d = WrapDim(d, x.rank());
  if (x.rank() == 0 || dims.empty()) return {x};
  return {b.Reverse(x, dims)};
}

// (self, shifts, dims): no dims rolls the flattened tensor.
Values LowerRoll(Builder& b, Args& args) {
  const Value self = args.tensor(0);
  const Dims shifts = args.integers(1);
  Dims dims = args.integers_or(2, {});
  Value x = self;
  if (self.shape().num_elements() == 0) return {self};
  if (dims.empty()) {
    x = b.Reshape(self, {self.shape().num_elements()});
    dims = {0};
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = WrapDim(dims[i], x.rank());
    const int64_t n = x.dim(dim);
    const int64_t shift = ((shifts[i] % n) + n) % n;
    if (shift == 0) continue;
    const Value parts[] = {b.SliceInDim(x, n - shift, n, 1, dim),
                           b.SliceInDim(x, 0, n - shift, 1, dim)};
    x = b.Concatenate(parts, dim);
  }
  return {b.Reshape(x, self.shape().dims)};
}

Values LowerRot90(Builder& b, Args& args) {  // (self, k, dims)
  const Value x = args.tensor(0);
  const int64_t k = ((args.integer_or(1, 1) % 4) + 4) % 4;
  const Dims dims = args.integers(2);
  const int64_t d0 = WrapDim(dims[0], x.rank()), d1 = WrapDim(dims[1], x.rank());
  Dims swapped = AllDims(x.rank());
  std::swap(swapped[static_cast<size_t>(d0)], swapped[static_cast<size_t>(d1)]);
  if (k == 0) return {x};
  if (k == 2) return {b.Reverse(x, {d0, d1})};
  return {k == 1 ? b.Transpose(b.Reverse(x, {d1}), swapped)
                 : b.Reverse(b.Transpose(x, swapped), {d1})};
}

// (self, repeats): [r0 * d0, ...] as a broadcast of [r0, d0, ...].
Values LowerRepeat(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const Dims repeats = args.integers(1);
  const size_t lead = repeats.size() - static_cast<size_t>(x.rank());
  Dims wide, result, positions;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int64_t extent = i < lead ? 1 : x.dim(static_cast<int64_t>(i - lead));
    wide.push_back(repeats[i]);
    if (i >= lead) positions.push_back(static_cast<int64_t>(wide.size()));
    wide.push_back(extent);
    result.push_back(repeats[i] * extent);
  }
  return {b.Reshape(b.Broadcast(x, wide, positions), result)};
}

// (self, pad, value): pad counts from the last dimension; negative pads cut.
Values LowerConstantPad(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const Dims pad = args.integers(1);
  std::vector<hlo::PaddingDimension> padding(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    padding[padding.size() - 1 - i] = {.low = pad[2 * i], .high = pad[2 * i + 1], .interior = 0};
  }
  return {
      b.Pad(x, args.is_none(2) ? b.Constant(x.dtype(), 0.0) : args.scalar(2, x.dtype()), padding)};
}

Value Shuffled(Builder& b, Value x, const Dims& split, const Dims& order, const Dims& result) {
  return b.Reshape(b.Transpose(b.Reshape(x, split), order), result);
}
// [..., C r^2, H, W] -> [..., C, H r, W r]
Values LowerPixelShuffle(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t r = args.integer(1);
  const int64_t rank = x.rank();
  const int64_t c = x.dim(rank - 3) / (r * r), h = x.dim(rank - 2), w = x.dim(rank - 1);
  Dims result(x.shape().dims.begin(), x.shape().dims.end() - 3);
  const int64_t n = Product(result);
  for (const int64_t d : {c, h * r, w * r}) result.push_back(d);
  return {Shuffled(b, x, {n, c, r, r, h, w}, {0, 1, 4, 2, 5, 3}, result)};
}
Values LowerPixelUnshuffle(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t r = args.integer(1);
  const int64_t rank = x.rank();
  const int64_t c = x.dim(rank - 3), h = x.dim(rank - 2) / r, w = x.dim(rank - 1) / r;
  Dims result(x.shape().dims.begin(), x.shape().dims.end() - 3);
  const int64_t n = Product(result);
  for (const int64_t d : {c * r * r, h, w}) result.push_back(d);
  return {Shuffled(b, x, {n, c, h, r, w, r}, {0, 1, 3, 5, 2, 4}, result)};
}
// (self, groups)
Values LowerChannelShuffle(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t groups = args.integer(1);
  const int64_t n = x.dim(0), c = x.dim(1);
  const int64_t rest = x.shape().num_elements() / std::max<int64_t>(n * c, 1);
  return {Shuffled(b, x, {n, groups, c / groups, rest}, {0, 2, 1, 3}, x.shape().dims)};
}

constexpr auto kAny = Native::kAny;

constexpr Row kRows[] = {
    {"aten::cat", LowerCat, kAny},
    {"aten::stack", LowerStack, kAny},
    {"aten::flip", LowerFlip, kAny},
    {"aten::roll", LowerRoll, kAny},
    {"aten::rot90", LowerRot90, kAny},
    {"aten::repeat", LowerRepeat, kAny},
    {"aten::constant_pad_nd", LowerConstantPad, kAny, kNoFlags, At({2})},
    {"aten::pixel_shuffle", LowerPixelShuffle, kAny},
    {"aten::pixel_unshuffle", LowerPixelUnshuffle, kAny},
    {"aten::channel_shuffle", LowerChannelShuffle, kAny},
};

}  // namespace

constinit const std::span<const Row> kJoinRows = kRows;

}  // namespace neuron::lowering
