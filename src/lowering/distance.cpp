// Distances between rows, and norms of slices.
#include <cmath>
#include <limits>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The p-norm of x >= 0 over `dims`, kept.
Expr Norm(Expr x, double p, const Dims& dims) {
  if (p == 0) return KeepSum((x != 0.0).As(x.dtype()), dims);
  if (p == kInfinity) return KeepMax(x, dims);
  if (p == -kInfinity) return KeepMin(x, dims);
  if (p == 1) return KeepSum(x, dims);
  if (p == 2) return Sqrt(KeepSum(x * x, dims));
  return Power(KeepSum(Power(x, p), dims), 1 / p);
}

// x1 [B.., P, M] and x2 [B.., R, M] as differences [B.., P, R, M]; batch dimensions broadcast.
Expr Differences(Expr x1, Expr x2) {
  Dims left = x1.dims(), right = x2.dims();
  left.insert(left.end() - 1, 1);
  right.insert(right.end() - 2, 1);
  return Reshaped(x1, left) - Reshaped(x2, right);
}

// (x1, x2, p, compute_mode)
Values LowerCdist(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr d = Differences(Operand(args, 0, compute), Operand(args, 1, compute));
  Dims result = d.dims();
  result.pop_back();
  if (d.num_elements() == 0) return {b.Full(Shape::Array(dtype, result), 0)};
  return {Reshaped(Norm(Abs(d), args.number(2), {d.rank() - 1}), result).As(dtype)};
}

// Of the distance by the difference.
Expr DistanceSlope(Expr d, Expr distance, double p) {
  const Expr is_zero = distance == 0.0;
  if (p == 0) return d * 0.0;
  if (p == 1) return Sign(d);
  if (p == 2) return Select(is_zero.BroadcastTo(d.dims()), 0.0, d / distance);
  if (p == kInfinity) return Select(Abs(d) == distance, Sign(d), 0.0);
  const Expr slope = Sign(d) * Power(Abs(d), p - 1) / Power(distance, p - 1);
  const Expr none = is_zero.BroadcastTo(d.dims()) || (d == 0.0);  // where p < 1 has no slope
  return Select(none, 0.0, slope);
}

// (grad, x1, x2, p, cdist): by x1
Values LowerCdistBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr x1 = Operand(args, 1, compute);
  const Expr d = Differences(x1, Operand(args, 2, compute));
  const auto last = [&](size_t i) {
    const Expr x = Operand(args, i, compute);
    Dims dims = x.dims();
    dims.push_back(1);
    return Reshaped(x, dims);
  };
  if (d.num_elements() == 0) {
    Dims dims = d.dims();
    dims.erase(dims.end() - 2);
    return {b.Full(Shape::Array(dtype, dims), 0)};
  }
  const Expr product = DistanceSlope(d, last(4), args.number(3)) * last(0);
  return {Expr(b, b.ReduceSum(product, {d.rank() - 2})).As(dtype)};
}

// The rows of a pair (i, j), i < j, in the order of torch.pdist.
struct Pairs {
  std::vector<int64_t> first, second;
};
Pairs PairsOf(int64_t n) {
  Pairs pairs;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) {
      pairs.first.push_back(i);
      pairs.second.push_back(j);
    }
  return pairs;
}
Expr PairDifferences(Expr x, const Pairs& pairs) {
  Builder& b = x.builder();
  return TakeAlong(x, 0, ConstantS32(b, pairs.first)) -
         TakeAlong(x, 0, ConstantS32(b, pairs.second));
}

// (self, p)
Values LowerPdist(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const Pairs pairs = PairsOf(x.dims()[0]);
  const auto n = static_cast<int64_t>(pairs.first.size());
  if (n == 0 || x.dims()[1] == 0) return {b.Full(Shape::Array(dtype, {n}), 0)};
  const Expr d = PairDifferences(x, pairs);
  return {Reshaped(Norm(Abs(d), args.number_or(1, 2), {1}), {n}).As(dtype)};
}
// (grad, self, p, pdist)
Values LowerPdistBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 1, compute);
  const Pairs pairs = PairsOf(x.dims()[0]);
  const auto n = static_cast<int64_t>(pairs.first.size());
  const Expr zeros = {b, b.Full(Shape::Array(compute, x.dims()), 0)};
  if (n == 0 || x.dims()[1] == 0) return {zeros.As(dtype)};
  const Expr distance = Reshaped(Operand(args, 3, compute), {n, 1});
  const Expr slope = DistanceSlope(PairDifferences(x, pairs), distance, args.number(2)) *
                     Reshaped(Operand(args, 0, compute), {n, 1});
  const Expr plus = ScatterAlong(zeros, 0, ConstantS32(b, pairs.first), slope, ScatterMode::kAdd);
  return {ScatterAlong(plus, 0, ConstantS32(b, pairs.second), -slope, ScatterMode::kAdd).As(dtype)};
}

// (self, p, dim, maxnorm): slices along dim, none longer than maxnorm
Values LowerRenorm(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const int64_t dim = WrapDim(args.integer(2), x.rank());
  Dims others = AllDims(x.rank());
  others.erase(others.begin() + dim);
  const double longest = args.number(3);
  if (x.num_elements() == 0) return {x.As(dtype)};
  const Expr norm = Norm(Abs(x), args.number(1), others);
  return {(x * Select(norm > longest, longest / (norm + 1e-7), norm.Like(1))).As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::_cdist_forward", LowerCdist}, {"aten::_cdist_backward", LowerCdistBackward},
    {"aten::_pdist_forward", LowerPdist}, {"aten::_pdist_backward", LowerPdistBackward},
    {"aten::renorm", LowerRenorm},
};

}  // namespace

constinit const std::span<const Row> kDistanceRows = kRows;

}  // namespace neuron::lowering
