// Unary mathematics. What HLO has no opcode for is composed so that fp32 stays within a few ulps.
#include <cmath>
#include <limits>
#include <numbers>

#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

constexpr double kPi = std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Expr Trunc(Expr x) { return Select(x < 0.0, Ceil(x), Floor(x)); }
template <auto kFormula>  // rounding leaves integers alone
Expr FloatsOnly(Expr x) {
  return IsFloating(x.dtype()) ? kFormula(x) : x;
}

Expr Asin(Expr x) { return Atan2(x, Sqrt((1.0 - x) * (x + 1.0))); }
Expr Acos(Expr x) { return Atan2(Sqrt((1.0 - x) * (x + 1.0)), x); }

Expr Sinh(Expr x) {
  const Expr e = Expm1(Abs(x));
  const Expr half = Exp(Abs(x) * 0.5);  // exp(|x|) alone overflows before sinh does
  const Expr large = half * 0.5 * half;
  const Expr small = (e + e / (e + 1.0)) * 0.5;
  const Expr magnitude = Select(Abs(x) > 20.0, large, small);
  return Select(x < 0.0, -magnitude, Select(x == 0.0, x, magnitude));
}
Expr Cosh(Expr x) {
  const Expr half = Exp(Abs(x) * 0.5);
  return half * 0.5 * half + 0.5 / half / half;
}
Expr Asinh(Expr x) {
  const Expr a = Abs(x);
  // log1p(a + a^2 / (1 + sqrt(a^2 + 1))); beyond 1e8 a^2 + 1 rounds to a^2.
  const Expr small = Log1p(a + a * a / (Sqrt(a * a + 1.0) + 1.0));
  const Expr y = Select(a > 1e8, Log(a) + std::numbers::ln2, small);
  return Select(x < 0.0, -y, Select(x == 0.0, x, y));
}
Expr Acosh(Expr x) {
  const Expr t = x - 1.0;
  const Expr small = Log1p(t + Sqrt(t * t + t * 2.0));
  return Select(x > 1e8, Log(x) + std::numbers::ln2, small);
}
Expr Atanh(Expr x) { return (Log1p(x) - Log1p(-x)) * 0.5; }

Expr Sinc(Expr x) {
  const Expr y = x * kPi;
  return Select(x == 0.0, 1.0, Sin(y) / y);
}

// Relative accuracy in the tail: log(erfc(a) exp(a^2) / t) with t = 1 / (1 + a / 2) is smooth; a
// least-squares Chebyshev fit of it, converted to powers of t, is good to 1e-8.
Expr Erfc(Expr x) {
  const Expr a = Abs(x);
  constexpr double kC[] = {-1.2655121713921615, 1.0000027880558366,  0.37495853210436336,
                           0.08325414188293949, -0.0788317171636204, -0.21786793324418144,
                           0.2956862062288974,  -1.1591123470716678, 2.3263526769252194,
                           -2.155280160763401,  0.9717408686100646,  -0.1753908939265466};
  const Expr t = 1.0 / (a * 0.5 + 1.0);
  const Expr tail = t * Exp(Polynomial(t, kC) - a * a);
  return Select(a < 0.5, 1.0 - Erf(x), Select(x < 0.0, 2.0 - tail, tail));
}

// Giles, "Approximating the erfinv function", single precision; f64 gets two Newton steps.
Expr ErfInv(Expr x) {
  constexpr double kCentral[] = {1.50140941,     0.246640727,    -0.00417768164,
                                 -0.00125372503, 0.00021858087,  -4.39150654e-06,
                                 -3.5233877e-06, 3.43273939e-07, 2.81022636e-08};
  constexpr double kTail[] = {2.83297682,    1.00167406,     0.00943887047,
                              -0.0076224613, 0.00573950773,  -0.00367342844,
                              0.00134934322, 0.000100950558, -0.000200214257};
  // Near the ends 1 - x is exact, and 1 - x^2 is not.
  const Expr w = -Select(Abs(x) < 0.5, Log1p(-(x * x)), Log((1.0 - x) * (x + 1.0)));
  const Expr p = Select(w < 5.0, Polynomial(w - 2.5, kCentral), Polynomial(Sqrt(w) - 3.0, kTail));
  Expr y = p * x;
  if (x.dtype() == DType::kF64) {
    for (int i = 0; i < 2; ++i) y = y - (Erf(y) - x) / (Exp(-(y * y)) * (2 / std::sqrt(kPi)));
  }
  const Expr infinite = Select(x < 0.0, x.Like(-kInf), x.Like(kInf));
  return Select(Abs(x) == 1.0, infinite, y);
}

// Lanczos, g = 7, nine terms, with reflection below 0.5.
constexpr double kLanczos[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                               771.32342877765313,   -176.61502916214059,   12.507343278686905,
                               -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};

struct LanczosTerms {
  Expr sum, derivative;
};
LanczosTerms Lanczos(Expr z) {
  Expr sum = z.Like(kLanczos[0]).BroadcastTo(z.dims());
  Expr derivative = z.Like(0).BroadcastTo(z.dims());
  for (int i = 1; i < 9; ++i) {
    const Expr inverse = 1.0 / (z + static_cast<double>(i));
    sum = sum + inverse * kLanczos[i];
    derivative = derivative - inverse * inverse * kLanczos[i];
  }
  return {sum, derivative};
}

Expr Lgamma(Expr x) {
  const Expr reflect = x < 0.5;
  const Expr z = Select(reflect, -x, x - 1.0);
  const Expr t = z + 7.5;
  // log(t) = log(7.5) + log1p(z / 7.5), precise where z is small.
  const Expr log_t = Log1p(z * (1 / 7.5)) + std::log(7.5);
  const Expr value = (z + 0.5 - t / log_t) * log_t + 0.5 * std::log(2 * kPi) + Log(Lanczos(z).sum);
  // sin(pi x) from the distance to the nearest integer below, exact at integers.
  const Expr a = Abs(x);
  const Expr fraction = a - Floor(a);
  const Expr distance = Select(fraction > 0.5, 1.0 - fraction, fraction);
  const Expr reflected = std::log(kPi) - Log(Abs(Sin(distance * kPi))) - value;
  const Expr infinite = (!IsFinite(x) && !IsNan(x)) || (distance == 0.0 && (x <= 0.0));
  return Select(infinite, kInf, Select(reflect, reflected, value));
}

Expr Digamma(Expr x) {
  const Expr reflect = x < 0.5;
  const Expr z = Select(reflect, -x, x - 1.0);
  const Expr t = z + 7.5;
  const Expr log_t = Log1p(z * (1 / 7.5)) + std::log(7.5);
  const LanczosTerms terms = Lanczos(z);
  const Expr value = log_t + terms.derivative / terms.sum - 7.0 / t;
  const Expr fraction = x - Floor(x);
  const Expr cotangent = Cos(fraction * kPi) / Sin(fraction * kPi);
  const Expr pole = (x < 0.0) && (fraction == 0.0);
  const Expr y = Select(reflect, value - cotangent * kPi, value);
  // -inf at +0, +inf at -0: minus the reciprocal.
  return Select(pole, kNan, Select(x == 0.0, -1.0 / x, y));
}

Expr SignOf(Expr x) {
  if (x.dtype() == DType::kPred) return x;
  if (IsUnsigned(x.dtype())) return (x != 0.0).As(x.dtype());
  if (!IsFloating(x.dtype())) return Sign(x);
  return Select(IsNan(x), 0.0, Sign(x));  // CPU: sign(nan) is 0
}

Values LowerAbs(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  if (x.dtype() == DType::kPred || IsUnsigned(x.dtype())) return {x};
  return {Abs(x)};
}

Values LowerRoundDecimals(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const int64_t decimals = args.integer(1);
  if (decimals == 0) return {RoundNearestEven(x).As(dtype)};
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  if (decimals > 0) return {(RoundNearestEven(x * scale) / scale).As(dtype)};
  return {(RoundNearestEven(x / scale) * scale).As(dtype)};
}

Values LowerNanToNum(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Tensor(args, 0);
  if (!IsFloating(dtype)) return {x};
  const double largest = dtype == DType::kF16    ? 65504.0
                         : dtype == DType::kBF16 ? 3.38953138925153547590470800371e38
                         : dtype == DType::kF32  ? std::numeric_limits<float>::max()
                                                 : std::numeric_limits<double>::max();
  const Expr infinite = !IsFinite(x) && !IsNan(x);
  const Expr y = Select(IsNan(x), args.number_or(1, 0.0), x);
  return {Select(infinite && (x > 0.0), args.number_or(2, largest),
                 Select(infinite && (x < 0.0), args.number_or(3, -largest), y))};
}

Values LowerLogit(Builder&, Args& args) {
  const DType dtype = FloatType(args, args.dtype_of(0));
  Expr x = Operand(args, 0, ComputeType(dtype));
  if (!args.is_none(1)) {
    const double eps = args.number(1);
    x = Minimum(Maximum(x, eps), 1.0 - eps);
  }
  return {Log(x / (1.0 - x)).As(dtype)};
}

Values LowerLogitBackward(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute);
  const Expr x = Operand(args, 1, compute);
  const Expr y = grad / (x * (1.0 - x));
  if (args.is_none(2)) return {Select((x < 0.0) || (x > 1.0), kNan, y).As(dtype)};
  const double eps = args.number(2);
  return {Select((x < eps) || (x > 1.0 - eps), 0.0, y).As(dtype)};
}

constexpr uint32_t kE = kElementwise;
constexpr auto kReal = Native::kReal32;

#define FLOAT_UNARY(name, formula) \
  {"aten::" name, FloatUnary<[](Expr x) -> Expr { return formula; }>, kReal, kE}
#define SAME_UNARY(name, formula) \
  {"aten::" name, SameUnary<[](Expr x) -> Expr { return formula; }>, kReal, kE}

constexpr Row kRows[] = {
    {"aten::abs", LowerAbs, kReal, kE},
    SAME_UNARY("neg", -x),
    SAME_UNARY("sign", SignOf(x)),
    SAME_UNARY("sgn", IsComplex(x.dtype()) ? Sign(x) : SignOf(x)),
    SAME_UNARY("ceil", FloatsOnly<Ceil>(x)),
    SAME_UNARY("floor", FloatsOnly<Floor>(x)),
    SAME_UNARY("trunc", FloatsOnly<Trunc>(x)),
    SAME_UNARY("round", FloatsOnly<RoundNearestEven>(x)),
    {"aten::round.decimals", LowerRoundDecimals, kReal, kE},
    SAME_UNARY("frac", x - Trunc(x)),
    FLOAT_UNARY("acos", Acos(x)),
    FLOAT_UNARY("acosh", Acosh(x)),
    FLOAT_UNARY("asin", Asin(x)),
    FLOAT_UNARY("asinh", Asinh(x)),
    FLOAT_UNARY("atan", Atan2(x, 1.0)),
    FLOAT_UNARY("atanh", Atanh(x)),
    FLOAT_UNARY("cos", Cos(x)),
    FLOAT_UNARY("cosh", Cosh(x)),
    FLOAT_UNARY("deg2rad", x*(kPi / 180)),
    FLOAT_UNARY("rad2deg", x * (180 / kPi)),
    FLOAT_UNARY("digamma", Digamma(x)),
    FLOAT_UNARY("erf", Erf(x)),
    FLOAT_UNARY("erfc", Erfc(x)),
    FLOAT_UNARY("erfinv", ErfInv(x)),
    FLOAT_UNARY("exp", Exp(x)),
    FLOAT_UNARY("exp2", Power(2.0, x)),
    FLOAT_UNARY("expm1", Expm1(x)),
    FLOAT_UNARY("lgamma", Lgamma(x)),
    FLOAT_UNARY("log", Log(x)),
    FLOAT_UNARY("log10", Log(x) * (1 / 2.30258509299404568402)),
    FLOAT_UNARY("log1p", Log1p(x)),
    FLOAT_UNARY("log2", Log(x) * (1 / std::numbers::ln2)),
    {"aten::logit", LowerLogit, kReal, kE},
    {"aten::logit_backward", LowerLogitBackward, kReal, kE},
    {"aten::nan_to_num", LowerNanToNum, kReal, kE},
    FLOAT_UNARY("reciprocal", 1.0 / x),
    FLOAT_UNARY("rsqrt", 1.0 / Sqrt(x)),
    FLOAT_UNARY("sigmoid", Logistic(x)),
    FLOAT_UNARY("sin", Sin(x)),
    FLOAT_UNARY("sinc", Sinc(x)),
    FLOAT_UNARY("sinh", Sinh(x)),
    FLOAT_UNARY("special_entr", Select(x == 0.0, 0.0, Select(x < 0.0, -kInf, -(x* Log(x))))),
    FLOAT_UNARY("special_ndtri", ErfInv(x * 2.0 - 1.0) * std::sqrt(2.0)),
    FLOAT_UNARY("sqrt", Sqrt(x)),
    FLOAT_UNARY("tan", Tan(x)),
    FLOAT_UNARY("tanh", Tanh(x)),
};

}  // namespace

constinit const std::span<const Row> kUnaryRows = kRows;

}  // namespace neuron::lowering
