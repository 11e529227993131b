// unique: equal elements, or equal slices along a dimension, once each.
#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

Expr Total(Expr mask) {
  return {mask.builder(), mask.builder().ReduceSum(mask.As(DType::kS32), AllDims(mask.rank()))};
}

// Runs of equal neighbours.
struct Runs {
  Expr first;  // pred: begins a run
  Expr rank;   // s32: which run it is in, from 1 on
};
// Where along dimension 0 of x [n, ...] an element differs from the one before; the first one does.
Expr Changes(Expr x) {
  Builder& b = x.builder();
  const int64_t n = x.dims()[0];
  if (n == 1) return {b, b.Full(Shape::Array(DType::kPred, x.dims()), 1)};
  const Expr before = {b, b.SliceInDim(x, 0, n - 1, 1, 0)};
  const Expr after = {b, b.SliceInDim(x, 1, n, 1, 0)};
  Dims one = x.dims();
  one[0] = 1;
  const hlo::Value parts[] = {b.Full(Shape::Array(DType::kPred, one), 1), after != before};
  return {b, b.Concatenate(parts, 0)};
}
Runs RunsOf(Expr first) { return {first, RunningCount(first)}; }

// How long each run is, from the places where they begin.
Expr Lengths(const Runs& runs, int64_t n) {
  Builder& b = runs.rank.builder();
  const Expr zeros = {b, b.Full(Shape::Array(DType::kS32, {n}), 0)};
  const Expr ones = {b, b.Full(Shape::Array(DType::kS32, {n}), 1)};
  return ScatterAlong(zeros, 0, runs.rank - 1.0, ones, ScatterMode::kAdd);
}

Values NoElements(Builder& b, Args& args, const Expr& x, const Dims& inverse) {
  args.SetRows(b.ConstantInt(DType::kS32, 0), {0, 2});
  return {b.Full(Shape::Array(x.dtype(), {0}), 0), b.Full(Shape::Array(DType::kS64, inverse), 0),
          b.Full(Shape::Array(DType::kS64, {0}), 0)};
}

// -> values, place of each element's value among them, counts; the latter two empty if not asked
// for
Values UniqueOf(Builder& b, Args& args, Expr x, bool sorts, bool inverse, bool counts) {
  const int64_t n = x.num_elements();
  const Dims place_dims = inverse ? x.dims() : Dims{0};
  if (n == 0) return NoElements(b, args, x, place_dims);
  Expr row = Reshaped(x, {n});
  const bool is_bool = row.dtype() == DType::kPred;
  if (is_bool) row = row.As(DType::kU8);
  Expr places;
  if (sorts) {
    const Sorted sorted = SortAlong(row, 0, false);
    row = sorted.values;
    places = sorted.places;
  }
  const Runs runs = RunsOf(Changes(row));
  const Expr none = {b, b.Full(Shape::Array(DType::kS64, {0}), 0)};
  Expr values = Compacted(row, runs.first, runs.rank);
  if (is_bool) values = values != values.LikeInt(0);
  Expr where = none;
  if (inverse) {
    where = runs.rank - 1.0;
    if (sorts) {
      const Expr zeros = {b, b.Full(Shape::Array(DType::kS32, {n}), 0)};
      where = ScatterAlong(zeros, 0, places, where, ScatterMode::kReplace);
    }
    where = Reshaped(where, x.dims()).As(DType::kS64);
  }
  args.SetRows(Total(runs.first),
               counts ? std::vector<CountedResult>{0, 2} : std::vector<CountedResult>{0});
  return {values, where, counts ? Lengths(runs, n).As(DType::kS64) : none};
}

// (self, sorted, return_inverse, return_counts); the order is always sorted, as on CPU
Values LowerUnique2(Builder& b, Args& args) {
  return UniqueOf(b, args, Tensor(args, 0), true, args.flag(2), args.flag(3));
}
// (self, sorted, return_inverse)
Values LowerUnique(Builder& b, Args& args) {
  Values all = UniqueOf(b, args, Tensor(args, 0), true, args.flag(2), false);
  all.pop_back();
  return all;
}
// Slices along a dimension, as the rows of a matrix.
struct Slices {
  Expr rows;          // [n, m]
  Dims order, moved;  // x's dims with the dimension first: the permutation, the extents
};
Slices SlicesOf(Expr x, int64_t dim) {
  Slices s;
  s.order = AllDims(x.rank());
  std::rotate(s.order.begin(), s.order.begin() + dim, s.order.begin() + dim + 1);
  for (const int64_t d : s.order) s.moved.push_back(x.dims()[static_cast<size_t>(d)]);
  const Expr first = dim == 0 ? x : Expr(x.builder(), x.builder().Transpose(x, s.order));
  const int64_t n = s.moved[0];
  s.rows = Reshaped(first, {n, n == 0 ? 0 : x.num_elements() / n});
  return s;
}
Expr FromSlices(Expr rows, const Slices& s) {
  Dims back(s.order.size());
  for (size_t i = 0; i < s.order.size(); ++i)
    back[static_cast<size_t>(s.order[i])] = static_cast<int64_t>(i);
  const Expr moved = Reshaped(rows, s.moved);
  if (std::ranges::is_sorted(s.order)) return moved;
  return {moved.builder(), moved.builder().Transpose(moved, back)};
}

// Which of the different values of its column an element has, in ascending order from 0 on: of
// x [n, m], s32. NaNs differ from each other.
Expr RanksInColumns(Expr x) {
  Builder& b = x.builder();
  const Sorted sorted = SortAlong(x, 0, false);
  std::vector<hlo::WindowDimension> window(2);
  window[0].size = x.dims()[0];
  window[0].padding_low = x.dims()[0] - 1;
  const Expr changes = Changes(sorted.values).As(DType::kS32);
  const Expr rank = {b, b.ReduceWindow(changes, changes.LikeInt(0), window,
                                       b.Combiner(hlo::Opcode::kAdd, DType::kS32))};
  // Back to where the elements came from.
  const int64_t n = x.dims()[0], m = x.dims()[1];
  const Expr place = sorted.places * sorted.places.LikeInt(m) + IotaS32(b, {n, m}, 1);
  const Expr zeros = {b, b.Full(Shape::Array(DType::kS32, {n * m}), 0)};
  return Reshaped(ScatterAlong(zeros, 0, Reshaped(place, {n * m}), Reshaped(rank - 1.0, {n * m}),
                               ScatterMode::kReplace),
                  {n, m});
}

// Which of the different rows of x [n, m] each is, in lexicographic order: [n], s32. Ranks of two
// neighbouring columns make one of both, so the columns halve until one is left.
Expr RanksOfRows(Expr x) {
  Builder& b = x.builder();
  const int64_t n = x.dims()[0];
  if (x.dtype() == DType::kPred) x = x.As(DType::kU8);
  Expr ranks = RanksInColumns(x);
  while (ranks.dims()[1] > 1) {
    const int64_t m = ranks.dims()[1], pairs = m / 2;
    const DType dtype = n <= 46340 ? DType::kS32 : DType::kS64;  // n * n fits
    const Expr high = Expr(b, b.SliceInDim(ranks, 0, 2 * pairs, 2, 1)).As(dtype);
    const Expr low = Expr(b, b.SliceInDim(ranks, 1, 2 * pairs, 2, 1)).As(dtype);
    Expr next = RanksInColumns(high * high.LikeInt(n) + low);
    if (m % 2 != 0) {
      const hlo::Value parts[] = {next, b.SliceInDim(ranks, m - 1, m, 1, 1)};
      next = {b, b.Concatenate(parts, 1)};
    }
    ranks = next;
  }
  return Reshaped(ranks, {n});
}

// One row per group of x's rows, where `group` [n] (s32, dense from 0 on) says which one it is in.
Values UniqueSlices(Builder& b, Args& args, const Slices& s, Expr group, int64_t dim, bool inverse,
                    bool counts) {
  const int64_t n = s.rows.dims()[0];
  const Expr none = {b, b.Full(Shape::Array(DType::kS64, {0}), 0)};
  const Expr total = {b, b.ReduceMax(group, {0})};
  std::vector<CountedResult> counted = {{0, dim}};
  if (counts) counted.emplace_back(2);
  args.SetRows(total + 1.0, counted);
  const Expr zeros = {b, b.Full(Shape::Array(s.rows.dtype(), s.rows.dims()), 0)};
  const Expr values = ScatterAlong(zeros, 0, group, s.rows, ScatterMode::kReplace);
  Expr count = none;
  if (counts) {
    const Expr nothing = {b, b.Full(Shape::Array(DType::kS32, {n}), 0)};
    const Expr ones = {b, b.Full(Shape::Array(DType::kS32, {n}), 1)};
    count = ScatterAlong(nothing, 0, group, ones, ScatterMode::kAdd).As(DType::kS64);
  }
  return {FromSlices(values, s), inverse ? group.As(DType::kS64) : none, count};
}

// Slices without elements, or none at all: CPU words what is wrong with them.
bool RefuseEmpty(Builder& b, Args& args, const Expr& x) {
  if (x.num_elements() > 0 && x.rank() > 0) return false;
  b.Fail(Unimplemented(args.overload(), ": no elements"));
  return true;
}

// (self, dim, sorted, return_inverse, return_counts); the order is always sorted, as on CPU
Values LowerUniqueDim(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (RefuseEmpty(b, args, x)) return {};
  const int64_t dim = WrapDim(args.integer(1), x.rank());
  const Slices s = SlicesOf(x, dim);
  return UniqueSlices(b, args, s, RanksOfRows(s.rows), dim, args.flag(3), args.flag(4));
}
Values ConsecutiveSlices(Builder& b, Args& args, Expr x, int64_t dim, bool inverse, bool counts) {
  if (RefuseEmpty(b, args, x)) return {};
  const Slices s = SlicesOf(x, dim);
  const Expr differs = {b, b.ReduceOr(Changes(s.rows), {1})};
  return UniqueSlices(b, args, s, RunsOf(differs).rank - 1.0, dim, inverse, counts);
}
// (self, return_inverse, return_counts, dim)
Values LowerUniqueConsecutive(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  if (!args.is_none(3) && x.rank() != 1)
    return ConsecutiveSlices(b, args, x, WrapDim(args.integer(3), x.rank()), args.flag(1),
                             args.flag(2));
  return UniqueOf(b, args, x, false, args.flag(1), args.flag(2));
}
// (self, dim, return_inverse, return_counts)
Values LowerUniqueDimConsecutive(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  return ConsecutiveSlices(b, args, x, WrapDim(args.integer(1), x.rank()), args.flag(2),
                           args.flag(3));
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::_unique2", LowerUnique2, kNone, kDataDependent},
    {"aten::_unique", LowerUnique, kNone, kDataDependent},
    {"aten::unique_dim", LowerUniqueDim, kNone, kDataDependent},
    {"aten::unique_consecutive", LowerUniqueConsecutive, Native::kReal32, kDataDependent},
    {"aten::unique_dim_consecutive", LowerUniqueDimConsecutive, kNone, kDataDependent},
};

}  // namespace

constinit const std::span<const Row> kUniqueRows = kRows;

}  // namespace neuron::lowering
