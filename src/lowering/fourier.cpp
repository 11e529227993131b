// Fourier transforms: any dimensions, any number of them, three ways to scale.
#include <cmath>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

// HLO's fft types. Its inverses divide by the number of points; forward transforms do not scale.
enum FftType : int { kForward = 0, kInverse = 1, kRealForward = 2, kRealInverse = 3 };

// at::native::fft_norm_mode
enum class Scaling : int64_t { kNone = 0, kByRoot = 1, kByCount = 2 };

double Factor(Args& args, double points) {
  switch (static_cast<Scaling>(args.integer(2))) {
    case Scaling::kByRoot:
      return 1 / std::sqrt(points);
    case Scaling::kByCount:
      return 1 / points;
    case Scaling::kNone:
      break;
  }
  return 1;
}

Expr Scaled(Expr y, double factor) {
  if (factor == 1) return y;
  if (!IsComplex(y.dtype())) return y * factor;
  return {y.builder(), y.builder().Complex(Real(y) * factor, Imag(y) * factor)};
}

// The dimensions of argument 1, split as HLO's fft takes them, three at a time; the last group
// holds the last dimension, which is the one that real transforms halve. No meta kernel has looked
// at them before.
std::vector<Dims> Groups(Args& args, int64_t rank) {
  Dims dims;
  for (const int64_t d : args.integers(1)) {
    if (d < -rank || d >= rank) {
      args.builder().Fail(InvalidArgument(args.overload(), ": dimension ", d,
                                          " of a tensor that has ", rank, " dimensions"));
      return {};
    }
    dims.push_back(WrapDim(d, rank));
  }
  Dims unique = dims;
  std::ranges::sort(unique);
  if (std::ranges::adjacent_find(unique) != unique.end())
    args.builder().Fail(Unimplemented(args.overload(), ": a dimension is named twice"));
  if (!args.builder().status().ok()) return {};
  std::vector<Dims> groups;
  for (auto end = dims.end(); end != dims.begin();) {
    const auto begin = end - std::min<int64_t>(end - dims.begin(), 3);
    groups.emplace(groups.begin(), begin, end);
    end = begin;
  }
  return groups;
}

// One HLO fft over `dims`. `real_length`: of the last of them, for kRealInverse.
Expr Over(Expr x, FftType type, const Dims& dims, int64_t real_length = 0) {
  Builder& b = x.builder();
  Dims order, lengths, back(x.dims().size());
  for (int64_t d = 0; d < x.rank(); ++d)
    if (std::ranges::find(dims, d) == dims.end()) order.push_back(d);
  order.insert(order.end(), dims.begin(), dims.end());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  for (const int64_t d : dims) lengths.push_back(x.dims()[static_cast<size_t>(d)]);
  if (type == kRealInverse) lengths.back() = real_length;
  const bool moves = !std::ranges::is_sorted(order);
  const Expr y = {b, b.Fft(moves ? Expr(b, b.Transpose(x, order)) : x, type, lengths)};
  return moves ? Expr(b, b.Transpose(y, back)) : y;
}

double Points(const Expr& x, const std::vector<Dims>& groups) {
  double points = 1;
  for (const Dims& dims : groups) points *= static_cast<double>(CountOf(x, dims));
  return points;
}

// (self, dim, normalization, forward)
Values LowerComplexToComplex(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  const std::vector<Dims> groups = Groups(args, x.rank());
  if (x.num_elements() == 0) return {x};
  const bool forward = args.flag(3);
  const double points = Points(x, groups);
  Expr y = x;
  for (const Dims& dims : groups) y = Over(y, forward ? kForward : kInverse, dims);
  return {Scaled(y, Factor(args, points) * (forward ? 1 : points))};
}

bool IsTransformable(Args& args, DType real) {
  if (real == DType::kF32 || real == DType::kF64) return true;
  args.builder().Fail(Unimplemented(args.overload(), ": ", DTypeName(real)));
  return false;
}

// (self, dim, normalization, onesided)
Values LowerRealToComplex(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  const std::vector<Dims> groups = Groups(args, x.rank());
  if (!IsTransformable(args, x.dtype()) || groups.empty()) return {};
  const bool onesided = args.flag(3);
  if (x.num_elements() == 0) {
    Dims dims = x.dims();
    int64_t& last = dims[static_cast<size_t>(groups.back().back())];
    if (onesided) last = last / 2 + 1;
    return {b.Full(Shape::Array(x.dtype() == DType::kF32 ? DType::kC64 : DType::kC128, dims), 0)};
  }
  Expr y = onesided ? Over(x, kRealForward, groups.back())
                    : Over({b, b.Complex(x, b.ZerosLike(x))}, kForward, groups.back());
  for (size_t i = 0; i + 1 < groups.size(); ++i) y = Over(y, kForward, groups[i]);
  return {Scaled(y, Factor(args, Points(x, groups)))};
}

// (self, dim, normalization, last_dim_size)
Values LowerComplexToReal(Builder& b, Args& args) {
  Expr x = Tensor(args, 0);
  const std::vector<Dims> groups = Groups(args, x.rank());
  if (groups.empty()) return {};
  const int64_t last = groups.back().back(), length = args.integer(3);
  const int64_t stored = length / 2 + 1;
  Dims dims = x.dims();
  dims[static_cast<size_t>(last)] = length;
  if (Product(dims) == 0) {
    return {b.Full(Shape::Array(x.dtype() == DType::kC64 ? DType::kF32 : DType::kF64, dims), 0)};
  }
  if (x.dims()[static_cast<size_t>(last)] < stored) {
    b.Fail(InvalidArgument(args.overload(), ": a result of ", length, " elements needs ", stored,
                           " frequencies, got ", x.dims()[static_cast<size_t>(last)]));
    return {};
  }
  x = {b, b.SliceInDim(x, 0, stored, 1, last)};
  for (size_t i = 0; i + 1 < groups.size(); ++i) x = Over(x, kInverse, groups[i]);
  const Expr y = Over(x, kRealInverse, groups.back(), length);
  const double points = Points(y, groups);
  return {Scaled(y, Factor(args, points) * points)};
}

constexpr auto kNone = Native::kNone;

// Shapes are the program's: PyTorch has meta kernels of these only once Dynamo is imported.
constexpr Row kRows[] = {
    {"aten::_fft_c2c", LowerComplexToComplex, kNone, kOwnShapes},
    {"aten::_fft_r2c", LowerRealToComplex, kNone, kOwnShapes},
    {"aten::_fft_c2r", LowerComplexToReal, kNone, kOwnShapes},
};

}  // namespace

constinit const std::span<const Row> kFourierRows = kRows;

}  // namespace neuron::lowering
