// Matrix products. Halves accumulate in f32; the scaled sum of addmm is rounded once.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

// a[..., M, K] x b[..., K, N] with `batch` leading dimensions, in the compute type.
Expr Product(Expr a, Expr b, int64_t batch) {
  hlo::DotDimensions dims;
  for (int64_t d = 0; d < batch; ++d) {
    dims.lhs_batch.push_back(d);
    dims.rhs_batch.push_back(d);
  }
  dims.lhs_contracting = {a.rank() - 1};
  dims.rhs_contracting = {batch};
  return {a.builder(), a.builder().Dot(a, b, dims, ComputeType(a.dtype()))};
}

// beta * self + alpha * product; beta = 0 ignores self, NaN included, so beta is never run-time.
Values Combine(Args& args, Expr product, size_t beta, size_t alpha) {
  const DType dtype = args.dtype_of(0);
  if (!args.scalar_is(alpha, 1)) product = product * Scalar(args, alpha, product.dtype());
  if (args.scalar_is(beta, 0)) return {product.As(dtype)};
  Expr self = Operand(args, 0, product.dtype());
  if (!args.scalar_is(beta, 1)) self = self * Scalar(args, beta, self.dtype());
  return {(product + self.BroadcastTo(product.dims())).As(dtype)};
}

template <int kBatch>
Values LowerMm(Builder&, Args& args) {
  const Expr a = Tensor(args, 0);
  return {Product(a, Tensor(args, 1), kBatch).As(a.dtype())};
}

template <int kBatch>  // (self, a, b, *, beta, alpha)
Values LowerAddmm(Builder&, Args& args) {
  return Combine(args, Product(Tensor(args, 1), Tensor(args, 2), kBatch), 3, 4);
}

// s8 x s8 -> s32. Products of bytes are exact in f32, and so is the sum of as many as stay below
// 2^24: the Tensor engine takes K in such pieces.
Values LowerIntMm(Builder& b, Args& args) {
  constexpr int64_t kPiece = 1024;  // * 2^14
  const Expr x = Operand(args, 0, DType::kF32), y = Operand(args, 1, DType::kF32);
  const int64_t k = x.dims()[1];
  Expr sum = {b, b.Full(hlo::Shape::Array(DType::kS32, {x.dims()[0], y.dims()[1]}), 0)};
  for (int64_t at = 0; at < k; at += kPiece) {
    const int64_t end = std::min(at + kPiece, k);
    const Expr piece =
        Product({b, b.SliceInDim(x, at, end, 1, 1)}, {b, b.SliceInDim(y, at, end, 1, 0)}, 0);
    sum = sum + piece.As(DType::kS32);
  }
  return {sum};
}

// sum over the batch of a[i] x b[i]: batch and K are one contraction.
Values LowerAddbmm(Builder& b, Args& args) {
  const Expr x = Tensor(args, 1);
  hlo::DotDimensions dims;
  dims.lhs_contracting = {0, 2};
  dims.rhs_contracting = {0, 1};
  const Expr product = {b, b.Dot(x, args.tensor(2), dims, ComputeType(x.dtype()))};
  return Combine(args, product, 3, 4);
}

// (self, vec1, vec2, *, beta, alpha)
Values LowerAddr(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1, 2});
  const DType compute = ComputeType(dtype);
  const Expr a = Operand(args, 1, compute);
  Expr product = Reshaped(a, {a.dims()[0], 1});
  if (compute == DType::kPred) {
    product = product && Operand(args, 2, compute);
    if (args.scalar_is(3, 0)) return {product};
    return {product || Operand(args, 0, compute).BroadcastTo(product.dims())};
  }
  product = product * Operand(args, 2, compute);
  if (!args.scalar_is(4, 1)) product = product * Scalar(args, 4, compute);
  if (args.scalar_is(3, 0)) return {product.As(dtype)};
  Expr self = Operand(args, 0, compute);
  if (!args.scalar_is(3, 1)) self = self * Scalar(args, 3, compute);
  return {(product + self).As(dtype)};
}

Values LowerVdot(Builder& b, Args& args) {
  Expr a = Tensor(args, 0);
  if (IsComplex(a.dtype())) a = {b, b.Complex(Real(a), -Imag(a))};
  return {Product(a, Tensor(args, 1), 0).As(a.dtype())};
}

constexpr auto kFloat = Native::kFloating;

constexpr Row kRows[] = {
    {"aten::mm", LowerMm<0>},
    {"aten::_int_mm", LowerIntMm},
    {"aten::bmm", LowerMm<1>},
    {"aten::mv", LowerMm<0>},
    {"aten::dot", LowerMm<0>},
    {"aten::vdot", LowerVdot},
    {"aten::addmm", LowerAddmm<0>, kFloat, kNoFlags, At({4})},
    {"aten::addmv", LowerAddmm<0>, kFloat, kNoFlags, At({4})},
    {"aten::baddbmm", LowerAddmm<1>, kFloat, kNoFlags, At({4})},
    {"aten::addbmm", LowerAddbmm, kFloat, kNoFlags, At({4})},
    {"aten::addr", LowerAddr, kFloat, kNoFlags, At({4})},
};

}  // namespace

constinit const std::span<const Row> kMatmulRows = kRows;

}  // namespace neuron::lowering
