// Variance and norms.
#include <cmath>
#include <limits>

#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

template <bool kRoot, bool kMean>  // (self, dim, *, correction, keepdim)
Values LowerVar(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  if (!IsFloating(dtype)) {
    b.Fail(IsComplex(dtype) ? Unimplemented(args.overload(), ": ", DTypeName(dtype))
                            : InvalidArgument(args.overload(), ": ", DTypeName(dtype)));
    return {};
  }
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const Dims dims = ReducedDims(args, 1, x.rank());
  const double correction = args.number_or(2, 1);
  const bool keepdim = args.flag(3);
  const auto n = static_cast<double>(CountOf(x, dims));
  const Expr mean = KeepSum(x, dims) / n;
  const Expr centred = x - mean;
  const Expr square = KeepSum(centred * centred, dims);
  Expr var = square / std::max(n - correction, 0.0);
  if (kRoot) var = Sqrt(var);
  Values out = {DropDims(var, dims, keepdim).As(dtype)};
  if (kMean) out.push_back(DropDims(mean, dims, keepdim).As(dtype));
  return out;
}

// (sum |x|^p)^(1/p) and its limits.
Expr VectorNorm(Expr x, double p, const Dims& dims) {
  const Expr a = IsComplex(x.dtype()) ? Abs(x) : x;
  if (p == 2) return Sqrt(KeepSum(a * a, dims));
  const Expr magnitude = Abs(a);
  if (p == 1) return KeepSum(magnitude, dims);
  if (p == 0) return KeepSum((a != 0.0).As(a.dtype()), dims);
  if (std::isinf(p)) return p > 0 ? KeepMax(magnitude, dims) : KeepMin(magnitude, dims);
  return Power(KeepSum(Power(magnitude, p), dims), 1 / p);
}

Values Norm(Args& args, double p, const Dims& dims, bool keepdim, std::optional<DType> stated) {
  const DType dtype = stated.value_or(args.dtype_of(0));
  const Expr x = Cast(Tensor(args, 0), ComputeType(dtype));
  const DType real = dtype == DType::kC64    ? DType::kF32
                     : dtype == DType::kC128 ? DType::kF64
                                             : dtype;
  return {DropDims(VectorNorm(x, p, dims), dims, keepdim).As(real)};
}

// linalg_vector_norm(self, ord, dim, keepdim, *, dtype)
Values LowerVectorNorm(Builder&, Args& args) {
  const int64_t rank = Tensor(args, 0).rank();
  return Norm(args, args.number_or(1, 2), ReducedDims(args, 2, rank), args.flag(3), args.dtype(4));
}
Values LowerNormAll(Builder&, Args& args) {  // (self, p, *, dtype)
  return Norm(args, args.number_or(1, 2), AllDims(Tensor(args, 0).rank()), false, args.dtype(2));
}
Values LowerNormDim(Builder&, Args& args) {  // (self, p, dim, keepdim, *, dtype)
  return LowerVectorNorm(args.builder(), args);
}

constexpr auto kFloat = Native::kFloating;
constexpr Row kRows[] = {
    {"aten::var.correction", LowerVar<false, false>, kFloat},
    {"aten::std.correction", LowerVar<true, false>, kFloat},
    {"aten::var_mean.correction", LowerVar<false, true>, kFloat},
    {"aten::std_mean.correction", LowerVar<true, true>, kFloat},
    {"aten::linalg_vector_norm", LowerVectorNorm, kFloat},
    {"aten::norm.Scalar", LowerNormAll, kFloat},
    {"aten::norm.ScalarOpt_dtype", LowerNormAll, kFloat},
    {"aten::norm.ScalarOpt_dim", LowerNormDim, kFloat},
    {"aten::norm.ScalarOpt_dim_dtype", LowerNormDim, kFloat},
};

}  // namespace

constinit const std::span<const Row> kVarianceRows = kRows;

}  // namespace neuron::lowering
