// Activations and their backward formulas, as ATen's CPU kernels write them.
#include <cmath>
#include <numbers>

#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

constexpr double kSqrtHalf = std::numbers::sqrt2 / 2;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;
constexpr double kGeluCubic = 0.044715;

// A Scalar argument in the formula's dtype.
Expr S(Args& args, size_t i, DType dtype) { return Scalar(args, i, dtype); }

Expr Gelu(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  if (args.text(1) == "tanh")
    return x * 0.5 * (Tanh((x + x * x * x * kGeluCubic) * kSqrt2OverPi) + 1.0);
  return x * 0.5 * (Erf(x * kSqrtHalf) + 1.0);
}

Expr GeluBackward(Args& args, DType dtype) {
  const Expr grad = Operand(args, 0, dtype);
  const Expr x = Operand(args, 1, dtype);
  if (args.text(2) == "tanh") {
    const Expr t = Tanh((x + x * x * x * kGeluCubic) * kSqrt2OverPi);
    const Expr inner = (x * x * (3 * kGeluCubic) + 1.0) * kSqrt2OverPi;
    return grad * ((t + 1.0) * 0.5 + x * 0.5 * (1.0 - t * t) * inner);
  }
  const Expr cdf = (Erf(x * kSqrtHalf) + 1.0) * 0.5;
  const Expr pdf = Exp(x * x * -0.5) * kInvSqrt2Pi;
  return grad * (cdf + x * pdf);
}

Expr SiluBackward(Args& args, DType dtype) {
  const Expr x = Operand(args, 1, dtype);
  const Expr s = Logistic(x);
  return Operand(args, 0, dtype) * s * (x * (1.0 - s) + 1.0);
}

Expr SigmoidBackward(Args& args, DType dtype) {
  const Expr y = Operand(args, 1, dtype);
  return Operand(args, 0, dtype) * (1.0 - y) * y;
}

Expr TanhBackward(Args& args, DType dtype) {
  const Expr y = Operand(args, 1, dtype);
  return Operand(args, 0, dtype) * (1.0 - y * y);
}

Values LowerThreshold(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Tensor(args, 0);
  return {Select(x <= S(args, 1, dtype), S(args, 2, dtype), x)};
}

Values LowerThresholdBackward(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const Expr x = Operand(args, 1, dtype);
  return {Select(x <= S(args, 2, dtype), 0.0, Operand(args, 0, dtype))};
}

Expr LeakyRelu(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  return Select(x > 0.0, x, x * S(args, 1, dtype));
}
Expr LeakyReluBackward(Args& args, DType dtype) {
  const Expr grad = Operand(args, 0, dtype);
  return Select(Operand(args, 1, dtype) > 0.0, grad, grad * S(args, 2, dtype));
}

Expr Elu(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  const Expr alpha = S(args, 1, dtype), scale = S(args, 2, dtype), inner = S(args, 3, dtype);
  return Select(x < 0.0, Expm1(x * inner) * (alpha * scale), x * scale);
}
Values LowerEluBackward(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 5});
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute);
  const Expr x = Operand(args, 5, compute);
  const Expr scale = S(args, 2, compute), inner = S(args, 3, compute);
  const Expr negative = S(args, 1, compute) * scale;
  const Expr left =
      args.flag(4) ? grad * inner * (x + negative) : grad * (inner * negative) * Exp(x * inner);
  return {Select(x <= 0.0, left, grad * scale).As(dtype)};
}
Expr Celu(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  const Expr alpha = S(args, 1, dtype);
  return Select(x < 0.0, Expm1(x / alpha) * alpha, x);
}

Values LowerHardtanh(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  return {Minimum(Maximum(Tensor(args, 0), S(args, 1, dtype)), S(args, 2, dtype))};
}
Expr HardtanhBackward(Args& args, DType dtype) {
  const Expr x = Operand(args, 1, dtype);
  const Expr outside = (x <= S(args, 2, dtype)) || (x >= S(args, 3, dtype));
  return Select(outside, 0.0, Operand(args, 0, dtype));
}

Expr Hardswish(Expr x) { return x * Minimum(Maximum(x + 3.0, 0.0), 6.0) / 6.0; }
Expr HardswishBackward(Args& args, DType dtype) {
  const Expr grad = Operand(args, 0, dtype);
  const Expr x = Operand(args, 1, dtype);
  const Expr middle = grad * (x / 3.0 + 0.5);
  return Select(x <= -3.0, 0.0, Select(x < 3.0, middle, grad));
}
Expr HardsigmoidBackward(Args& args, DType dtype) {
  const Expr x = Operand(args, 1, dtype);
  return Select((x > -3.0) && (x < 3.0), Operand(args, 0, dtype) / 6.0, 0.0);
}

Expr Hardshrink(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  const Expr lambda = S(args, 1, args.dtype_of(0)).As(dtype);
  return Select((x >= -lambda) && (x <= lambda), 0.0, x);
}
Expr ShrinkBackward(Args& args, DType dtype) {
  const Expr x = Operand(args, 1, dtype);
  const Expr lambda = S(args, 2, args.dtype_of(1)).As(dtype);
  return Select((x >= -lambda) && (x <= lambda), 0.0, Operand(args, 0, dtype));
}
Expr Softshrink(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  const Expr lambda = S(args, 1, dtype);
  return Select(x > lambda, x - lambda, Select(x < -lambda, x + lambda, x * 0.0));
}

Expr Softplus(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  const Expr beta = S(args, 1, dtype);
  const Expr scaled = x * beta;
  return Select(scaled > S(args, 2, dtype), x, Log1p(Exp(scaled)) / beta);
}
Expr SoftplusBackward(Args& args, DType dtype) {
  const Expr grad = Operand(args, 0, dtype);
  const Expr scaled = Operand(args, 1, dtype) * S(args, 2, dtype);
  const Expr z = Exp(scaled);
  return Select(scaled > S(args, 3, dtype), grad, grad * z / (z + 1.0));
}

Expr Mish(Expr x) { return x * Tanh(Log1p(Exp(x))); }
Expr MishBackward(Args& args, DType dtype) {
  const Expr x = Operand(args, 1, dtype);
  const Expr t = Tanh(Log1p(Exp(x)));
  return Operand(args, 0, dtype) * (t + x * Logistic(x) * (1.0 - t * t));
}

Values LowerLogSigmoid(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const Expr z = Exp(-Abs(x));  // ATen's buffer
  return {(Minimum(x, 0.0) - Log1p(z)).As(dtype), z.As(dtype)};
}
Expr LogSigmoidBackward(Args& args, DType dtype) {
  const Expr x = Operand(args, 1, dtype);
  const Expr z = Exp(-Abs(x));  // not read from the buffer, which other devices leave empty
  const Expr fraction = z / (z + 1.0);
  return Operand(args, 0, dtype) * Select(x < 0.0, 1.0 - fraction, fraction);
}

struct Halves {
  Expr first, second;
};
Halves Split(Expr x, int64_t dim) {
  if (dim < 0) dim += x.rank();
  const int64_t half = x.dims()[static_cast<size_t>(dim)] / 2;
  Builder& b = x.builder();
  return {{b, b.SliceInDim(x, 0, half, 1, dim)}, {b, b.SliceInDim(x, half, 2 * half, 1, dim)}};
}
Expr Glu(Args& args, DType dtype) {
  const Halves halves = Split(Operand(args, 0, dtype), args.integer(1));
  return halves.first * Logistic(halves.second);
}
Values LowerGluBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute);
  const Expr x = Operand(args, 1, compute);
  int64_t dim = args.integer(2);
  if (dim < 0) dim += x.rank();
  const Halves halves = Split(x, dim);
  const Expr s = Logistic(halves.second);
  const hlo::Value parts[] = {grad * s, grad * halves.first * s * (1.0 - s)};
  return {b.Convert(b.Concatenate(parts, dim), dtype)};
}

Expr Prelu(Args& args, DType dtype) {
  const Expr x = Operand(args, 0, dtype);
  return Select(x > 0.0, x, x * Operand(args, 1, dtype));
}
Values LowerPreluBackward(Builder&, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute);
  const Expr x = Operand(args, 1, compute);
  const Expr weight = Operand(args, 2, compute);
  const Expr positive = x > 0.0;
  return {Select(positive, grad, grad * weight).As(dtype),
          Select(positive, 0.0, grad * x).As(dtype)};
}

constexpr uint32_t kE = kElementwise;
constexpr auto kFloat = Native::kFloating;

constexpr Row kRows[] = {
    {"aten::relu", SameUnary<[](Expr x) { return Maximum(x, 0.0); }>, Native::kReal32, kE},
    {"aten::threshold", LowerThreshold, Native::kReal32, kE, At({1, 2})},
    {"aten::threshold_backward", LowerThresholdBackward, Native::kReal32, kE, At({2})},
    {"aten::gelu", Pointwise1<Gelu>, kFloat, kE},
    {"aten::gelu_backward", Pointwise2<GeluBackward>, kFloat, kE},
    {"aten::silu", FloatUnary<[](Expr x) { return x * Logistic(x); }>, kFloat, kE},
    {"aten::silu_backward", Pointwise2<SiluBackward>, kFloat, kE},
    {"aten::sigmoid_backward", Pointwise2<SigmoidBackward>, kFloat, kE},
    {"aten::tanh_backward", Pointwise2<TanhBackward>, kFloat, kE},
    {"aten::leaky_relu", Pointwise1<LeakyRelu>, kFloat, kE, At({1})},
    {"aten::leaky_relu_backward", Pointwise2<LeakyReluBackward>, kFloat, kE, At({2})},
    {"aten::elu", Pointwise1<Elu>, kFloat, kE, At({1, 2, 3})},
    {"aten::elu_backward", LowerEluBackward, kFloat, kE, At({1, 2, 3})},
    {"aten::celu", Pointwise1<Celu>, kFloat, kE, At({1})},
    {"aten::hardtanh", LowerHardtanh, Native::kReal32, kE, At({1, 2})},
    {"aten::hardtanh_backward", Pointwise2<HardtanhBackward>, kFloat, kE, At({2, 3})},
    {"aten::hardswish", SameUnary<Hardswish>, kFloat, kE},
    {"aten::hardswish_backward", Pointwise2<HardswishBackward>, kFloat, kE},
    {"aten::hardsigmoid",
     SameUnary<[](Expr x) { return Minimum(Maximum(x + 3.0, 0.0), 6.0) / 6.0; }>, kFloat, kE},
    {"aten::hardsigmoid_backward", Pointwise2<HardsigmoidBackward>, kFloat, kE},
    {"aten::hardshrink", Pointwise1<Hardshrink>, kFloat, kE, At({1})},
    {"aten::hardshrink_backward", Pointwise2<ShrinkBackward>, kFloat, kE, At({2})},
    {"aten::softshrink", Pointwise1<Softshrink>, kFloat, kE, At({1})},
    {"aten::softshrink_backward", Pointwise2<ShrinkBackward>, kFloat, kE, At({2})},
    {"aten::softplus", Pointwise1<Softplus>, kFloat, kE, At({1, 2})},
    {"aten::softplus_backward", Pointwise2<SoftplusBackward>, kFloat, kE, At({2, 3})},
    {"aten::mish", SameUnary<Mish>, kFloat, kE},
    {"aten::mish_backward", Pointwise2<MishBackward>, kFloat, kE},
    {"aten::log_sigmoid_forward", LowerLogSigmoid, kFloat, kE},
    {"aten::log_sigmoid_backward", Pointwise2<LogSigmoidBackward>, kFloat, kE},
    {"aten::glu", Pointwise1<Glu>, kFloat},
    {"aten::glu_backward", LowerGluBackward, kFloat},
    {"aten::_prelu_kernel", Pointwise1<Prelu>, kFloat, kE},
    {"aten::_prelu_kernel_backward", LowerPreluBackward, kFloat, kE},
};

}  // namespace

constinit const std::span<const Row> kActivationRows = kRows;

}  // namespace neuron::lowering
