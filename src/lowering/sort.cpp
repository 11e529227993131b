// Sorting and what follows from it. The sort itself is one of the irregular kernels.
#include <limits>

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
  Values middle = Ranked(b, SortAlong(x, dim, false), dim, (n - 1) / 2, keepdim);
  if (!IsFloating(x.dtype())) return middle;
  const Located top = Locate(x, dim, true);
  const Expr value = DropDims(top.value, {dim}, keepdim);
  const Expr place = DropDims(top.index, {dim}, keepdim).As(DType::kS64);
  return {Select(IsNan(value), value, {b, middle[0]}), Select(IsNan(value), place, {b, middle[1]})};
}

// Below every value of x.
Expr Lowest(Expr x) {
  if (IsFloating(x.dtype())) return x.Like(-std::numeric_limits<double>::infinity());
  if (IsUnsigned(x.dtype())) return x.LikeInt(0);
  return x.LikeInt(INT64_MIN >> (64 - 8 * ByteSize(x.dtype())));
}

// (self, dim, keepdim): the most frequent value, the smallest of them; its last place.
Values LowerMode(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  if (self.rank() == 0) return Scalars(b, self);
  const int64_t dim = WrapDim(args.integer_or(1, -1), self.rank());
  const int64_t n = self.dims()[static_cast<size_t>(dim)];
  const bool keepdim = args.flag(2), is_bool = self.dtype() == DType::kPred;
  const Sorted s = SortAlong(is_bool ? self.As(DType::kU8) : self, dim, false);
  // Where in the sorted row each run of equal values began, and so how long it is by now.
  const Expr position = IotaS32(b, self.dims(), dim);
  Expr begins = position == 0.0;
  if (n > 1) {
    Dims one = self.dims();
    one[static_cast<size_t>(dim)] = 1;
    const Expr before = {b, b.SliceInDim(s.values, 0, n - 1, 1, dim)};
    const Expr after = {b, b.SliceInDim(s.values, 1, n, 1, dim)};
    const hlo::Value parts[] = {b.Full(hlo::Shape::Array(DType::kPred, one), 1), after != before};
    begins = {b, b.Concatenate(parts, dim)};
  }
  const Expr start = RunningMax(Select(begins, position, 0.0), dim);
  const Located longest = Locate(position - start, dim, true);
  const Expr hit = position == longest.index;
  const Expr place = KeepMax(Select(hit, s.places, -1.0), {dim});
  Expr value = KeepMax(Select(hit, s.values, Lowest(s.values)), {dim});
  if (is_bool) value = value != value.LikeInt(0);
  return {DropDims(value, {dim}, keepdim), DropDims(place, {dim}, keepdim).As(DType::kS64)};
}

// The lower median of what is no NaN; of nothing but NaNs it is NaN.
Values NanMedian(Builder& b, Expr x, int64_t dim, bool keepdim) {
  if (!IsFloating(x.dtype())) return Median(b, x, dim, keepdim);
  const Sorted s = SortAlong(x, dim, false);
  const Expr numbers = KeepSum((!IsNan(x)).As(DType::kS32), {dim});
  const Expr rank = Maximum(numbers - 1.0, 0.0);
  const Expr middle = Apply(hlo::Opcode::kShiftRightArithmetic, rank, rank.LikeInt(1));
  const Expr hit = IotaS32(b, x.dims(), dim) == middle;
  const Expr value = KeepMax(Select(hit, s.values, Lowest(s.values)), {dim});
  const Expr place = KeepMax(Select(hit, s.places, -1.0), {dim});
  return {DropDims(value, {dim}, keepdim), DropDims(place, {dim}, keepdim).As(DType::kS64)};
}

template <auto kMedian>  // (self, dim, keepdim)
Values LowerMedianDim(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (x.rank() == 0) return Scalars(b, x);
  return kMedian(b, x, WrapDim(args.integer(1), x.rank()), args.flag(2));
}
template <auto kMedian>  // (self)
Values LowerMedian(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  return {kMedian(b, Reshaped(x, {x.num_elements()}), 0, false)[0]};
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::sort", LowerSort<1, 2>, kNone},
    {"aten::sort.stable", LowerSort<2, 3>, kNone},
    {"aten::topk", LowerTopk, kNone},
    {"aten::kthvalue", LowerKthValue, kNone},
    {"aten::median", LowerMedian<Median>, kNone},
    {"aten::median.dim", LowerMedianDim<Median>, kNone},
    {"aten::mode", LowerMode, kNone},
    {"aten::nanmedian", LowerMedian<NanMedian>, kNone},
    {"aten::nanmedian.dim", LowerMedianDim<NanMedian>, kNone},
};

}  // namespace

constinit const std::span<const Row> kSortRows = kRows;

}  // namespace neuron::lowering
