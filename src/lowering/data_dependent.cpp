// Ops whose results have as many rows as data decide (Args::SetRows): the running count of the
// wanted elements says where each goes, and a scatter puts it there.
#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

Expr IsSet(Expr x) { return x.dtype() == DType::kPred ? x : x != x.LikeInt(0); }

Expr Total(Expr mask) {
  return {mask.builder(), mask.builder().ReduceSum(mask.As(DType::kS32), AllDims(mask.rank()))};
}

// (self): the coordinates of each element that is not zero
Values LowerNonzero(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  const int64_t n = x.num_elements();
  const Expr mask = Reshaped(IsSet(x), {n});
  args.SetRows(Total(mask), {0});
  if (n == 0 || x.rank() == 0) return {b.Full(Shape::Array(DType::kS64, {n, x.rank()}), 0)};
  std::vector<hlo::Value> columns;
  for (int64_t d = 0; d < x.rank(); ++d)
    columns.push_back(Reshaped(IotaS32(b, x.dims(), d), {n, 1}));
  const Expr coordinates = {b, columns.size() == 1 ? columns[0] : b.Concatenate(columns, 1)};
  return {Compacted(coordinates, mask, RunningCount(mask)).As(DType::kS64)};
}

// (self, *, size, fill_value): the first `size` of them, and the fill value behind
Values LowerNonzeroStatic(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  const int64_t n = x.num_elements(), size = args.integer(1), fill = args.integer_or(2, -1);
  const Dims dims = {size, x.rank()};
  const Expr filled = Expr(b, b.ConstantInt(DType::kS64, fill)).BroadcastTo(dims);
  if (n == 0 || x.rank() == 0 || size == 0) return {filled};
  const Expr mask = Reshaped(IsSet(x), {n});
  std::vector<hlo::Value> columns;
  for (int64_t d = 0; d < x.rank(); ++d)
    columns.push_back(Reshaped(IotaS32(b, x.dims(), d), {n, 1}));
  const Expr coordinates = {b, columns.size() == 1 ? columns[0] : b.Concatenate(columns, 1)};
  const Expr rank = RunningCount(mask);
  // What is not wanted, or has no place, goes behind the end, where a scatter drops it.
  const Expr place = Select(mask, rank - 1.0, rank.LikeInt(size));
  const Expr start = Expr(b, b.ConstantInt(DType::kS32, fill)).BroadcastTo(dims);
  return {ScatterAlong(start, 0, place, coordinates, ScatterMode::kReplace).As(DType::kS64)};
}

// (self, mask), which broadcast
Values LowerMaskedSelect(Builder&, Args& args) {
  const Expr both[] = {Tensor(args, 0), Tensor(args, 1)};
  const Dims dims = BroadcastDims(both);
  const int64_t n = Product(dims);
  const Expr mask = Reshaped(IsSet(both[1]).BroadcastTo(dims), {n});
  args.SetRows(Total(mask), {0});
  return {Compacted(Reshaped(both[0].BroadcastTo(dims), {n}), mask, RunningCount(mask))};
}

// (self, weights, minlength): minlength is the number of bins, which the caller has seen to
Values LowerBincount(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  const bool weighted = !args.is_none(1);
  const int64_t bins = args.integer(2);
  const DType result =
      !weighted ? DType::kS64 : (args.dtype_of(1) == DType::kF32 ? DType::kF32 : DType::kF64);
  const DType compute = weighted ? result : DType::kS32;
  args.SetRows(b.ConstantInt(DType::kS32, bins), {0});
  const Expr zeros = {b, b.Full(Shape::Array(compute, {bins}), 0)};
  if (bins == 0 || x.num_elements() == 0) return {zeros.As(result)};
  const Expr add = weighted ? Cast(Tensor(args, 1), compute)
                            : Expr(b, b.Full(Shape::Array(compute, x.dims()), 1));
  const Expr place = CheckedIndex(args, x, {bins}, 0, false);
  return {ScatterAlong(zeros, 0, place, add, ScatterMode::kAdd).As(result)};
}

// (repeats, *, output_size): output_size is at least the sum of repeats, which the caller has seen
// to
Values LowerRepeatInterleave(Builder& b, Args& args) {
  const Expr given = Tensor(args, 0);
  const int64_t total = args.integer(1);
  args.SetRows(b.ConstantInt(DType::kS32, total), {0});
  const Expr nothing = {b, b.Full(Shape::Array(given.dtype(), {total}), 0)};
  if (total == 0 || given.num_elements() == 0) return {nothing};
  const Expr repeats = given.As(DType::kS32);
  const int64_t n = repeats.num_elements();
  // Each element marks the place behind its last copy; how many marks lie before a place is whose
  // copy stands there.
  std::vector<hlo::WindowDimension> window(1);
  window[0].size = n;
  window[0].padding_low = n - 1;
  const Expr end = {b, b.ReduceWindow(repeats, repeats.LikeInt(0), window,
                                      b.Combiner(hlo::Opcode::kAdd, DType::kS32))};
  const Expr zeros = {b, b.Full(Shape::Array(DType::kS32, {total}), 0)};
  const Expr ones = {b, b.Full(Shape::Array(DType::kS32, {n}), 1)};
  const Expr marks = ScatterAlong(zeros, 0, end, ones, ScatterMode::kAdd);
  window[0].size = total;
  window[0].padding_low = total - 1;
  const Expr owner = {b, b.ReduceWindow(marks, marks.LikeInt(0), window,
                                        b.Combiner(hlo::Opcode::kAdd, DType::kS32))};
  return {owner.As(given.dtype())};
}

constexpr auto kNone = Native::kNone;

constexpr Row kRows[] = {
    {"aten::nonzero", LowerNonzero, Native::kReal32, kDataDependent},
    {"aten::nonzero_static", LowerNonzeroStatic, Native::kReal32},
    {"aten::masked_select", LowerMaskedSelect, Native::kReal32, kDataDependent},
    {"aten::bincount", LowerBincount, kNone, kDataDependent},
    {"aten::repeat_interleave.Tensor", LowerRepeatInterleave, Native::kReal32, kDataDependent},
};

}  // namespace

constinit const std::span<const Row> kDataDependentRows = kRows;

}  // namespace neuron::lowering
