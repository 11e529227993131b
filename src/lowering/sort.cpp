// Sorting and what follows from it. The sort itself is one of the irregular kernels.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

Values Scalars(Builder& b, Expr x) { return {x, b.ConstantInt(DType::kS64, 0)}; }

template <int kDim, int kDescending>
Values LowerSort(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (x.rank() == 0) return Scalars(b, x);
  const Sorted s =
      SortAlong(x, WrapDim(args.integer_or(kDim, -1), x.rank()), args.flag(kDescending));
  return {s.values, s.places.As(DType::kS64)};
}

// (self, k, dim, largest, sorted)
Values LowerTopk(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (x.rank() == 0) return Scalars(b, x);
  const int64_t k = args.integer(1);
  const int64_t dim = WrapDim(args.integer_or(2, -1), x.rank());
  const Sorted s = SortAlong(x, dim, args.is_none(3) || args.flag(3));
  const Expr places = {b, b.SliceInDim(s.places, 0, k, 1, dim)};
  return {b.SliceInDim(s.values, 0, k, 1, dim), places.As(DType::kS64)};
}

Values Ranked(Builder& b, const Sorted& s, int64_t dim, int64_t rank, bool keepdim) {
  const Expr value = {b, b.SliceInDim(s.values, rank, rank + 1, 1, dim)};
  const Expr place = {b, b.SliceInDim(s.places, rank, rank + 1, 1, dim)};
  return {DropDims(value, {dim}, keepdim), DropDims(place, {dim}, keepdim).As(DType::kS64)};
}

// (self, k, dim, keepdim)
Values LowerKthValue(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (x.rank() == 0) return Scalars(b, x);
  const int64_t dim = WrapDim(args.integer_or(2, -1), x.rank());
  return Ranked(b, SortAlong(x, dim, false), dim, args.integer(1) - 1, args.flag(3));
}

// The lower median; a NaN anywhere is the median.
Values Median(Builder& b, Expr x, int64_t dim, bool keepdim) {
  const int64_t n = x.dims()[static_cast<size_t>(dim)];
  const Values middle = Ranked(b, SortAlong(x, dim, false), dim, (n - 1) / 2, keepdim);
  if (!IsFloating(x.dtype())) return middle;
  const Located top = Locate(x, dim, true);
  const Expr value = DropDims(top.value, {dim}, keepdim);
  const Expr place = DropDims(top.index, {dim}, keepdim).As(DType::kS64);
  return {Select(IsNan(value), value, {b, middle[0]}), Select(IsNan(value), place, {b, middle[1]})};
}
Values LowerMedianDim(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (x.rank() == 0) return Scalars(b, x);
  return Median(b, x, WrapDim(args.integer(1), x.rank()), args.flag(2));
}
Values LowerMedian(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Median(b, Reshaped(x, {x.num_elements()}), 0, false)[0]};
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::sort", LowerSort<1, 2>, kNone}, {"aten::sort.stable", LowerSort<2, 3>, kNone},
    {"aten::topk", LowerTopk, kNone},       {"aten::kthvalue", LowerKthValue, kNone},
    {"aten::median", LowerMedian, kNone},   {"aten::median.dim", LowerMedianDim, kNone},
};

}  // namespace

constinit const std::span<const Row> kSortRows = kRows;

}  // namespace neuron::lowering
