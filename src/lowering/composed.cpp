// Small ops composed of others: no decomposition of PyTorch's reaches them in eager.
#include <limits>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

// (self, offset, dim1, dim2): x on a diagonal of a zero matrix.
Values LowerDiagEmbed(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  const int64_t rank = x.rank() + 1;
  const int64_t offset = args.integer_or(1, 0);
  int64_t d1 = WrapDim(args.integer_or(2, -2), rank), d2 = WrapDim(args.integer_or(3, -1), rank);
  const int64_t n = x.dims().back() + std::abs(offset);
  int64_t row_shift = offset < 0 ? -offset : 0, column_shift = offset > 0 ? offset : 0;
  if (d1 > d2) {
    std::swap(d1, d2);
    std::swap(row_shift, column_shift);
  }
  // x stretched over rows: element k stands in row k + row_shift, column k + column_shift.
  Dims wide = x.dims();
  wide.insert(wide.end() - 1, 1);
  std::vector<hlo::PaddingDimension> padding(wide.size());
  padding.back() = {.low = column_shift, .high = row_shift, .interior = 0};
  const Expr columns = {b, b.Pad(Reshaped(x, wide), x.LikeInt(0), padding)};
  Dims square = x.dims();
  square.back() = n;
  square.push_back(n);
  const Expr row = IotaS32(b, {n, n}, 0), column = IotaS32(b, {n, n}, 1);
  const Expr on = (column - row) == row.LikeInt(column_shift - row_shift);
  const Expr matrix = Select(on, columns.BroadcastTo(square), x.LikeInt(0));
  Dims order;
  for (int64_t d = 0, other = 0; d < rank; ++d)
    order.push_back(d == d1 ? rank - 2 : d == d2 ? rank - 1 : other++);
  return {std::ranges::is_sorted(order) ? matrix.value() : b.Transpose(matrix, order)};
}

// (self, other, dim): vectors of three
Values LowerCross(Builder& b, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  const Expr both[] = {Operand(args, 0, compute), Operand(args, 1, compute)};
  const Dims dims = BroadcastDims(both);
  const int64_t dim = WrapDim(args.integer_or(2, -1), static_cast<int64_t>(dims.size()));
  const auto at = [&](int which, int64_t i) {
    return Expr(b, b.SliceInDim(both[which].BroadcastTo(dims), i, i + 1, 1, dim));
  };
  std::vector<Value> parts;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3, k = (i + 2) % 3;
    parts.push_back((at(0, j) * at(1, k) - at(0, k) * at(1, j)).As(dtype));
  }
  return {b.Concatenate(parts, dim)};
}

// How many boundaries are below x (at or below, if right): its bucket.
Expr Bucket(Expr x, Expr boundaries, bool right, DType dtype) {
  Dims wide = x.dims();
  wide.push_back(1);
  const Expr column = Reshaped(x, wide);
  const Expr below = right ? !(column < boundaries) : !(column <= boundaries);
  Builder& b = x.builder();
  const Expr count = {b, b.ReduceSum(below.As(DType::kS32), {x.rank()})};
  return count.As(dtype);
}
Values LowerBucketize(Builder&, Args& args) {  // (self, boundaries, *, out_int32, right)
  const DType compute = ComputeType(args.ResultType({0, 1}));
  return {Bucket(Operand(args, 0, compute), Operand(args, 1, compute), args.flag(3),
                 args.flag(2) ? DType::kS32 : DType::kS64)};
}

// (sorted_sequence, self, *, out_int32, right, side, sorter): as bucketize, with rows of their own
// where sorted_sequence has more than one dimension.
Values LowerSearchSorted(Builder& b, Args& args) {
  const DType compute = ComputeType(args.ResultType({0, 1}));
  const bool right =
      (!args.is_none(3) && args.flag(3)) || (!args.is_none(4) && args.text(4) == "right");
  Expr sequence = Operand(args, 0, compute);
  if (!args.is_none(5) && sequence.num_elements() > 0) {  // the order that sorts it
    const int64_t n = sequence.dims().back(), rows = sequence.num_elements() / n;
    const Expr order = Reshaped(
        CheckedIndex(args, Tensor(args, 5), {n, -1, DataError::kPlaceOutOfRange}, 5, false),
        {rows, n});
    const Expr row = IotaS32(b, {rows, n}, 0);
    sequence = Reshaped(TakeAlong(Reshaped(sequence, {rows * n}), 0, order + row * row.LikeInt(n)),
                        sequence.dims());
  }
  if (sequence.rank() > 1) {  // [.., n] beside [.., m, 1]
    Dims dims = sequence.dims();
    dims.insert(dims.end() - 1, 1);
    sequence = Reshaped(sequence, dims);
  }
  const bool narrow = !args.is_none(2) && args.flag(2);
  return {Bucket(Operand(args, 1, compute), sequence, right, narrow ? DType::kS32 : DType::kS64)};
}

// (elements, test_elements, *, assume_unique, invert)
Values LowerIsin(Builder& b, Args& args) {
  const DType compute = ComputeType(args.ResultType({0, 1}));
  const Expr x = Operand(args, 0, compute), tests = Operand(args, 1, compute);
  Dims wide = x.dims();
  wide.push_back(1);
  const Expr equal = Reshaped(x, wide) == Reshaped(tests, {tests.num_elements()});
  const Expr found = {b, b.ReduceOr(equal, {x.rank()})};
  return {args.flag(3) ? !found : found};
}

// (self, mask, source): the n-th set place takes source's n-th element.
Values LowerMaskedScatter(Builder&, Args& args) {
  const Expr both[] = {Tensor(args, 0), Tensor(args, 1)};
  const Dims dims = BroadcastDims(both);
  const int64_t n = Product(dims);
  const Expr source = Tensor(args, 2);
  if (n == 0 || source.num_elements() == 0) return {both[0].BroadcastTo(dims)};
  const Expr mask = Reshaped(both[1].BroadcastTo(dims), {n});
  const Expr rank = RunningCount(mask);
  const int64_t available = source.num_elements();
  const Expr place = Minimum(Maximum(rank - 1.0, 0.0), rank.LikeInt(available - 1));
  const Expr taken = TakeAlong(Reshaped(source, {available}), 0, place);
  return {Select(Reshaped(mask, dims), Reshaped(taken, dims), both[0])};
}

// (self, other, p)
Values LowerDist(Builder& b, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  const Expr d = Abs(Operand(args, 0, compute) - Operand(args, 1, compute));
  const double p = args.number_or(2, 2);
  const Dims all = AllDims(d.rank());
  if (p == 0) return {Expr(b, b.ReduceSum((d != 0.0).As(compute), all)).As(dtype)};
  if (p == std::numeric_limits<double>::infinity()) return {Expr(b, b.ReduceMax(d, all)).As(dtype)};
  if (p == -std::numeric_limits<double>::infinity())
    return {Expr(b, b.ReduceMin(d, all)).As(dtype)};
  if (p == 1) return {Expr(b, b.ReduceSum(d, all)).As(dtype)};
  if (p == 2) return {Sqrt(Expr(b, b.ReduceSum(d * d, all))).As(dtype)};
  return {Power(Expr(b, b.ReduceSum(Power(d, p), all)), 1 / p).As(dtype)};
}

// (self, bins, min, max): min = max stands for the data's own range. What lies outside is not
// counted, nor is NaN.
Values LowerHistc(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  if (!IsFloating(dtype)) {
    b.Fail(Unimplemented(args.overload(), ": ", DTypeName(dtype)));
    return {};
  }
  const DType compute = ComputeType(dtype);
  const int64_t bins = args.integer(1), n = args.tensor(0).shape().num_elements();
  const Expr zeros = {b, b.Full(hlo::Shape::Array(DType::kS32, {bins}), 0)};
  if (n == 0) return {zeros.As(dtype)};
  const Expr x = Reshaped(Operand(args, 0, compute), {n});
  Expr low = Scalar(args, 2, compute), high = Scalar(args, 3, compute);
  const Expr own_range = low == high;
  low = Select(own_range, {b, b.ReduceMin(x, {0})}, low);
  high = Select(own_range, {b, b.ReduceMax(x, {0})}, high);
  const Expr one_value = low == high;
  low = Select(one_value, low - 1.0, low);
  high = Select(one_value, high + 1.0, high);
  const Expr inside = (x >= low) && (x <= high);
  const Expr place = Floor((x - low) * static_cast<double>(bins) / (high - low));
  const Expr bin =
      Minimum(Select(inside, place, 0.0), static_cast<double>(bins - 1)).As(DType::kS32);
  // Behind the last bin a scatter drops what is not counted.
  const Expr ones = {b, b.Full(hlo::Shape::Array(DType::kS32, {n}), 1)};
  const Expr counts =
      ScatterAlong(zeros, 0, Select(inside, bin, bin.LikeInt(bins)), ones, ScatterMode::kAdd);
  return {counts.As(dtype)};
}

// The next representable number after x towards y: one step of the bits, which order as the numbers
// of one sign do.
Values LowerNextAfter(Builder& b, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    b.Fail(Unimplemented(args.overload(), ": ", DTypeName(dtype)));
    return {};
  }
  const Expr both[] = {Operand(args, 0, dtype), Operand(args, 1, dtype)};
  const Dims dims = BroadcastDims(both);
  const Expr x = both[0].BroadcastTo(dims), y = both[1].BroadcastTo(dims);
  const DType word = dtype == DType::kF32 ? DType::kS32 : DType::kS64;
  const Expr bits = {b, b.BitcastConvert(x, word)};
  const Expr away = (x < y) == (x > 0.0);
  const Expr stepped = {
      b, b.BitcastConvert(Select(away, bits + bits.LikeInt(1), bits - bits.LikeInt(1)), dtype)};
  const double least = dtype == DType::kF32 ? 0x1p-149 : 0x1p-1074;
  const Expr from_zero = Select(y > 0.0, y.Like(least), y.Like(-least));
  const Expr next = Select(x == 0.0, from_zero, stepped);
  return {Select(IsNan(x) || IsNan(y), x + y, Select(x == y, y, next))};
}

// (self, other): x 2^other
Values LowerLdexp(Builder&, Args& args) {
  const DType dtype = FloatType(args, args.ResultType({0, 1}));
  const DType compute = ComputeType(dtype);
  return {(Operand(args, 0, compute) * Power(2.0, Operand(args, 1, compute))).As(dtype)};
}

constexpr auto kAny = Native::kAny;
constexpr auto kReal = Native::kReal32;

constexpr Row kRows[] = {
    {"aten::diag_embed", LowerDiagEmbed, kAny},
    {"aten::linalg_cross", LowerCross},
    {"aten::bucketize.Tensor", LowerBucketize, kReal},
    {"aten::searchsorted.Tensor", LowerSearchSorted, kReal},
    {"aten::searchsorted.Scalar", LowerSearchSorted, kReal},
    {"aten::isin.Tensor_Tensor", LowerIsin, kReal},
    {"aten::isin.Tensor_Scalar", LowerIsin, kReal, kNoFlags, At({1})},
    {"aten::isin.Scalar_Tensor", LowerIsin, kReal, kNoFlags, At({0})},
    {"aten::masked_scatter", LowerMaskedScatter, Native::kNone},
    {"aten::dist", LowerDist},
    {"aten::nextafter", LowerNextAfter, kReal},
    {"aten::histc", LowerHistc, Native::kNone, kNoFlags, At({2, 3})},
    {"aten::ldexp.Tensor", LowerLdexp},
};

}  // namespace

constinit const std::span<const Row> kComposedRows = kRows;

}  // namespace neuron::lowering
