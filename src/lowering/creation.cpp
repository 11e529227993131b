// Tensors from numbers: filled, counted, triangular.
#include <cmath>

#include "hlo/extent.h"
#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

Expr Filled(Builder& b, const Dims& dims, hlo::Value scalar) {
  return {b, b.Broadcast(scalar, dims, {})};
}
Expr FilledWith(Builder& b, const Dims& dims, DType dtype, double value) {
  return {b, b.Full(Shape::Array(dtype, dims), value)};
}

Values LowerFull(Builder& b, Args& args) {
  const DType dtype = args.dtype(2).value_or(ScalarDType(args.scalar_arg(1), args.default_dtype()));
  return {Filled(b, args.integers(0), args.scalar(1, dtype))};
}
Values LowerFullLike(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  return {Filled(b, self.dims(), args.scalar(1, args.dtype(2).value_or(self.dtype())))};
}
Values LowerNewFull(Builder& b, Args& args) {
  const DType dtype = args.dtype(3).value_or(args.dtype_of(0));
  return {Filled(b, args.integers(1), args.scalar(2, dtype))};
}
template <int kValue>  // (size, *, dtype)
Values LowerConstant(Builder& b, Args& args) {
  return {FilledWith(b, args.integers(0), args.dtype(1).value_or(args.default_dtype()), kValue)};
}
template <int kValue>  // (self, *, dtype)
Values LowerLike(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  return {FilledWith(b, self.dims(), args.dtype(1).value_or(self.dtype()), kValue)};
}
template <int kValue>  // (self, size, *, dtype)
Values LowerNew(Builder& b, Args& args) {
  return {FilledWith(b, args.integers(1), args.dtype(2).value_or(args.dtype_of(0)), kValue)};
}
Values LowerScalarTensor(Builder&, Args& args) {
  return {args.scalar(0, args.dtype(1).value_or(args.default_dtype()))};
}
Values LowerFill(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  return {Filled(b, self.dims(), args.operand(1, self.dtype()))};
}
Values LowerFillTensor(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  return {Filled(b, self.dims(), Cast(Tensor(args, 1), self.dtype()))};
}
Values LowerZero(Builder& b, Args& args) { return {b.ZerosLike(args.tensor(0))}; }

// 0, 1, ..., n - 1 in `dtype`, counted in 32 bits.
Expr Count(Builder& b, int64_t n, DType dtype) {
  const Expr iota = IotaS32(b, {n}, 0);
  return iota.As(dtype);
}

// start + i * step. Integers are exact, counted in 32 bits where all values fit.
template <int kStart, int kStep, int kEnd, int kDType>  // argument positions, -1: 0 or 1
Values LowerArange(Builder& b, Args& args) {
  bool integral = true;
  const auto value = [&](int position, double otherwise) {
    if (position < 0 || args.is_none(static_cast<size_t>(position))) return otherwise;
    const ScalarArg& scalar = args.scalar_arg(static_cast<size_t>(position));
    integral &= scalar.kind < ScalarArg::Kind::kFloat;
    return args.number(static_cast<size_t>(position));
  };
  const double start = value(kStart, 0);
  const double end = value(kEnd, 0);
  const double step = value(kStep, 1);
  const DType dtype = args.dtype(kDType).value_or(integral ? DType::kS64 : args.default_dtype());
  const auto n = static_cast<int64_t>(std::ceil((end - start) / step));
  if (n <= 0) return {FilledWith(b, {0}, dtype, 0)};
  const int64_t most = hlo::IsRunTime(n) ? hlo::kMostExtent : n - 1;
  const double last = start + step * static_cast<double>(most);
  if (integral && std::max(std::abs(start), std::abs(last)) < 2147483648.0) {
    const Expr i = IotaS32(b, {n}, 0);
    return {(i * i.LikeInt(static_cast<int64_t>(step)) + i.LikeInt(static_cast<int64_t>(start)))
                .As(dtype)};
  }
  if (IsInteger(dtype)) {
    const Expr i = Count(b, n, DType::kS64);
    return {(i * i.LikeInt(static_cast<int64_t>(step)) + i.LikeInt(static_cast<int64_t>(start)))
                .As(dtype)};
  }
  const DType compute = ComputeType(dtype);
  return {(Count(b, n, compute) * step + start).As(dtype)};
}

// From both ends, so that each is exact.
Expr Linspace(Builder& b, double start, double end, int64_t n, DType dtype) {
  if (n == 1) return FilledWith(b, {1}, dtype, start);
  const double step = (end - start) / static_cast<double>(n - 1);
  const Expr i = Count(b, n, dtype);
  const Expr back = i.Like(static_cast<double>(n - 1)) - i;
  const int64_t half = n / 2;
  return Select(i < static_cast<double>(half), i * step + start, end - back * step);
}
Values LowerLinspace(Builder& b, Args& args) {
  const DType dtype = args.dtype(3).value_or(args.default_dtype());
  const int64_t n = args.integer(2);
  if (n == 0) return {FilledWith(b, {0}, dtype, 0)};
  const DType compute = IsFloating(dtype) ? ComputeType(dtype) : DType::kF32;
  return {Cast(Linspace(b, args.number(0), args.number(1), n, compute), dtype)};
}
Values LowerLogspace(Builder& b, Args& args) {
  const DType dtype = args.dtype(4).value_or(args.default_dtype());
  const int64_t n = args.integer(2);
  if (n == 0) return {FilledWith(b, {0}, dtype, 0)};
  const DType compute = IsFloating(dtype) ? ComputeType(dtype) : DType::kF32;
  const Expr exponent = Linspace(b, args.number(0), args.number(1), n, compute);
  return {Cast(Power(args.number_or(3, 10.0), exponent), dtype)};
}

Values Eye(Builder& b, int64_t n, int64_t m, DType dtype) {
  return {(IotaS32(b, {n, m}, 0) == IotaS32(b, {n, m}, 1)).As(dtype)};
}
Values LowerEye(Builder& b, Args& args) {
  return Eye(b, args.integer(0), args.integer(0), args.dtype(1).value_or(args.default_dtype()));
}
Values LowerEyeM(Builder& b, Args& args) {
  return Eye(b, args.integer(0), args.integer(1), args.dtype(2).value_or(args.default_dtype()));
}

template <bool kLower>
Values LowerTriangle(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  const Dims matrix(x.dims().end() - 2, x.dims().end());
  const int64_t diagonal = args.integer_or(1, 0);
  const Expr row = IotaS32(b, matrix, 0);
  const Expr limit = row + row.LikeInt(diagonal);
  const Expr column = IotaS32(b, matrix, 1);
  const Expr keep = kLower ? column <= limit : column >= limit;
  return {Select(keep, x, 0.0)};
}

constexpr auto kReal = Native::kReal32;
constexpr uint32_t kC = kCreation;

constexpr Row kRows[] = {
    {"aten::full", LowerFull, kReal, kC, At({1})},
    {"aten::full_like", LowerFullLike, kReal, kNoFlags, At({1})},
    {"aten::new_full", LowerNewFull, kReal, kNoFlags, At({2})},
    {"aten::zeros", LowerConstant<0>, kReal, kC},
    {"aten::ones", LowerConstant<1>, kReal, kC},
    {"aten::empty.memory_format", LowerConstant<0>, kReal, kC | kGraphOnly},
    {"aten::zeros_like", LowerLike<0>, kReal},
    {"aten::ones_like", LowerLike<1>, kReal},
    {"aten::empty_like", LowerLike<0>, kReal, kGraphOnly},
    {"aten::new_zeros", LowerNew<0>, kReal},
    {"aten::new_ones", LowerNew<1>, kReal},
    {"aten::new_empty", LowerNew<0>, kReal, kGraphOnly},
    {"aten::scalar_tensor", LowerScalarTensor, kReal, kC, At({0})},
    {"aten::fill.Scalar", LowerFill, kReal, kElementwise, At({1})},
    {"aten::fill.Tensor", LowerFillTensor, kReal, kElementwise},
    {"aten::zero", LowerZero, kReal, kElementwise},
    {"aten::arange", LowerArange<-1, -1, 0, 1>, kReal, kC},
    {"aten::arange.start", LowerArange<0, -1, 1, 2>, kReal, kC},
    {"aten::arange.start_step", LowerArange<0, 2, 1, 3>, kReal, kC},
    {"aten::linspace", LowerLinspace, kReal, kC},
    {"aten::logspace", LowerLogspace, kReal, kC},
    {"aten::eye", LowerEye, kReal, kC},
    {"aten::eye.m", LowerEyeM, kReal, kC},
    {"aten::tril", LowerTriangle<true>, kReal},
    {"aten::triu", LowerTriangle<false>, kReal},
};

}  // namespace

constinit const std::span<const Row> kCreationRows = kRows;

}  // namespace neuron::lowering
