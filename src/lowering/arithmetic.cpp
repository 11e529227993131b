// Binary and ternary arithmetic with PyTorch's type promotion.
#include <numbers>

#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

// alpha * b, without the multiplication where alpha is known to be 1.
Expr Scaled(Args& args, size_t alpha, Expr x, DType dtype) {
  if (args.is_none(alpha) || args.scalar_is(alpha, 1)) return x;
  return x * Scalar(args, alpha, dtype).As(x.dtype());
}

Values LowerAdd(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const Expr a = Promoted(args, 0, dtype);
  const Expr b = Scaled(args, 2, Promoted(args, 1, dtype), dtype);
  if (dtype == DType::kPred) return {a || b};
  return {(a + b).As(dtype)};
}

Values LowerSub(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  return {(Promoted(args, 0, dtype) - Scaled(args, 2, Promoted(args, 1, dtype), dtype)).As(dtype)};
}

Values LowerRsub(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  return {(Promoted(args, 1, dtype) - Scaled(args, 2, Promoted(args, 0, dtype), dtype)).As(dtype)};
}

Expr Multiply(Expr a, Expr b) { return a.dtype() == DType::kPred ? (a && b) : a * b; }

Expr Trunc(Expr x) { return Select(x < 0.0, Ceil(x), Floor(x)); }

void ReportZero(Args& args, Expr divisor) {
  const hlo::Value bad = divisor == 0.0;
  args.Report(DataError::kDivisionByZero, 1, bad);
}

// The remainder with the dividend's sign (C's fmod), integers guarded.
Expr Fmod(Args& args, Expr a, Expr b) {
  if (!IsFloating(a.dtype())) {
    ReportZero(args, b);
    b = Select(b == 0.0, 1.0, b);
  }
  return Remainder(a, b);
}

// Python's %: the divisor's sign.
Expr PythonRemainder(Args& args, Expr a, Expr b) {
  const Expr r = Fmod(args, a, b);
  if (IsUnsigned(a.dtype())) return r;
  return Select((r != 0.0) && ((r < 0.0) ^ (b < 0.0)), r + b, r);
}

// Python's //. CPU derives it from fmod, so that a // b and a % b agree.
Expr FloorDivide(Args& args, Expr a, Expr b) {
  if (!IsFloating(a.dtype())) {
    ReportZero(args, b);
    const Expr divisor = Select(b == 0.0, 1.0, b);
    const Expr q = a / divisor;
    if (IsUnsigned(a.dtype())) return q;
    const Expr inexact = (q * divisor) != a;
    return Select(inexact && ((a < 0.0) ^ (b < 0.0)), q - 1.0, q);
  }
  const Expr mod = Remainder(a, b);
  Expr quotient = (a - mod) / b;
  quotient = Select((mod != 0.0) && ((b < 0.0) ^ (mod < 0.0)), quotient - 1.0, quotient);
  const Expr floored = Floor(quotient);
  Expr rounded = Select((quotient - floored) > 0.5, floored + 1.0, floored);
  const Expr plain = a / b;
  rounded = Select(quotient == 0.0, plain * 0.0, rounded);
  return Select(b == 0.0, plain, rounded);
}

Expr TruncDivide(Args& args, Expr a, Expr b) {
  if (IsFloating(a.dtype())) return Trunc(a / b);
  ReportZero(args, b);
  return a / Select(b == 0.0, 1.0, b);
}

// kFormula: (Args&, Expr, Expr) -> Expr in the promoted dtype.
template <auto kFormula, auto kOperand = Promoted>
Values Guarded(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  return {kFormula(args, kOperand(args, 0, dtype), kOperand(args, 1, dtype)).As(dtype)};
}

constexpr LowerFunction kTrueDivide = FloatBinary<[](Expr a, Expr b) { return a / b; }, Factor>;

Values LowerDivMode(Builder& b, Args& args) {
  const std::string_view mode = args.text(2);
  if (mode == "floor") return Guarded<FloorDivide, Factor>(b, args);
  if (mode == "trunc") return Guarded<TruncDivide, Factor>(b, args);
  return kTrueDivide(b, args);
}

// Integer powers by squaring, exact in two's complement; exponents are at most 6 bits beyond
// which every base but 0, 1 and -1 has wrapped (64-bit exponents are walked in full).
Expr IntegerPower(Expr base, Expr exponent) {
  const Expr one = base.LikeInt(1).BroadcastTo(base.dims());
  const Expr negative = exponent < 0.0;
  Expr result = one;
  Expr square = base;
  Expr rest = Select(negative, 0.0, exponent);
  const int64_t bits = ByteSize(base.dtype()) * 8 - (IsUnsigned(base.dtype()) ? 0 : 1);
  for (int64_t i = 0; i < bits; ++i) {
    const Expr odd = Apply(hlo::Opcode::kAnd, rest, rest.LikeInt(1)) != 0.0;
    result = Select(odd, result * square, result);
    if (i + 1 == bits) break;
    square = square * square;
    rest = Apply(hlo::Opcode::kShiftRightLogical, rest, rest.LikeInt(1));
  }
  if (IsUnsigned(base.dtype())) return result;
  // 1 and -1 have integer reciprocals; the reciprocal of everything else truncates to 0.
  const Expr odd = Apply(hlo::Opcode::kAnd, exponent, exponent.LikeInt(1)) != 0.0;
  const Expr reciprocal =
      Select(base == 1.0, 1.0, Select((base == -1.0), Select(odd, exponent.LikeInt(-1), 1.0), 0.0));
  return Select(negative, reciprocal, result);
}

Expr GeneralPower(Expr a, Expr b) {
  if (a.dtype() == DType::kPred) return a || !b;
  if (IsInteger(a.dtype())) {
    const Expr both[] = {a, b};
    const std::vector<int64_t> dims = BroadcastDims(both);
    return IntegerPower(a.BroadcastTo(dims), b.BroadcastTo(dims));
  }
  return Power(a, b);
}

// The exponent is part of the plan's key: the usual ones are multiplications and roots, as on CPU.
Values LowerPowScalar(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  const Expr x = Promoted(args, 0, dtype);
  const auto is = [&](double value) { return args.scalar_is(1, value); };
  const auto finish = [&](Expr y) { return Values{y.As(dtype)}; };
  if (is(0)) return finish(x.LikeInt(1).BroadcastTo(x.dims()));
  if (is(1)) return finish(x);
  if (compute != DType::kPred) {
    if (is(2)) return finish(x * x);
    if (is(3)) return finish(x * x * x);
  }
  if (IsFloating(compute)) {
    if (is(0.5)) return finish(Sqrt(x));
    if (is(-0.5)) return finish(1.0 / Sqrt(x));
    if (is(-1)) return finish(1.0 / x);
    if (is(-2)) return finish(1.0 / (x * x));
  }
  if (IsInteger(compute)) {
    const int64_t exponent = args.integer(1);
    if (exponent >= 0) {  // unrolled by the bits that are set
      Expr result, square = x;
      for (int64_t rest = exponent; rest != 0; rest >>= 1) {
        if (rest & 1) result = result.valid() ? result * square : square;
        if (rest > 1) square = square * square;
      }
      return finish(result);
    }
  }
  return finish(GeneralPower(x, Promoted(args, 1, dtype)));
}

Expr ClampMax(Expr x, Expr high) { return Minimum(x, high); }  // HLO's minimum keeps NaN

Values LowerClamp(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1, 2});
  const DType compute = ComputeType(dtype);
  Expr x = Operand(args, 0, compute);
  if (!args.is_none(1)) x = Maximum(x, Operand(args, 1, compute));
  if (!args.is_none(2)) x = ClampMax(x, Operand(args, 2, compute));
  return {x.As(dtype)};
}

Values LowerWhere(Builder&, Args& args) {
  const DType dtype = args.ResultType({1, 2});
  const Expr condition = Tensor(args, 0);
  const Expr predicate = condition.dtype() == DType::kPred ? condition : condition != 0.0;
  return {Select(predicate, Operand(args, 1, dtype), Operand(args, 2, dtype))};
}

// CPU's two forms: each is exact at its own end.
Expr Lerp(Expr start, Expr end, Expr weight) {
  if (IsComplex(start.dtype())) return start + weight * (end - start);
  const Expr difference = end - start;
  return Select(Abs(weight) < 0.5, start + weight * difference, end - difference * (1.0 - weight));
}

Values LowerLerp(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  return {Lerp(Operand(args, 0, compute), Operand(args, 1, compute), Operand(args, 2, compute))
              .As(dtype)};
}

template <bool kDivides>
Values LowerAddc(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1, 2});
  const DType compute = ComputeType(dtype);
  const Expr a = Scaled(args, 3, Operand(args, 1, compute), compute);
  const Expr b = Operand(args, 2, compute);
  const Expr self = Operand(args, 0, compute);
  return {(self + (kDivides ? a / b : a * b)).As(dtype)};
}

Expr LogAddExp(Expr a, Expr b) {
  const Expr top = Maximum(a, b);
  // Equal infinities: their difference is NaN, their logaddexp the infinity itself.
  const Expr same = (a == b) && !IsFinite(a);
  return Select(same, a, top + Log1p(Exp(-Abs(a - b))));
}

constexpr LowerFunction kMul = SameBinary<Multiply, Factor>;
constexpr LowerFunction kRemainder = Guarded<PythonRemainder>;
constexpr LowerFunction kFmod = Guarded<Fmod>;
constexpr LowerFunction kXlogy = FloatBinary<[](Expr x, Expr y) {
  return Select(IsNan(y), y, Select(x == 0.0, 0.0, x * Log(y)));
}>;
constexpr LowerFunction kXlog1py = FloatBinary<[](Expr x, Expr y) {
  return Select(IsNan(y), y, Select(x == 0.0, 0.0, x * Log1p(y)));
}>;
constexpr LowerFunction kCopysign = FloatBinary<[](Expr a, Expr b) {
  const DType bits = b.dtype() == DType::kF64 ? DType::kS64 : DType::kS32;
  hlo::Builder& h = b.builder();
  const Expr negative = Expr(h, h.BitcastConvert(b, bits)) < 0.0;
  return Select(negative, -Abs(a), Abs(a));
}>;

constexpr uint32_t kE = kElementwise;
constexpr auto kReal = Native::kReal32;
constexpr auto kFloat = Native::kFloating;

constexpr Row kRows[] = {
    {"aten::add.Tensor", LowerAdd, kReal, kE, At({1, 2})},
    {"aten::add.Scalar", LowerAdd, kReal, kE, At({1, 2})},
    {"aten::sub.Tensor", LowerSub, kReal, kE, At({1, 2})},
    {"aten::sub.Scalar", LowerSub, kReal, kE, At({1, 2})},
    {"aten::rsub.Tensor", LowerRsub, kReal, kE, At({1, 2})},
    {"aten::rsub.Scalar", LowerRsub, kReal, kE, At({1, 2})},
    {"aten::mul.Tensor", kMul, kReal, kE, At({1})},
    {"aten::mul.Scalar", kMul, kReal, kE, At({1})},
    {"aten::div.Tensor", kTrueDivide, kReal, kE, At({1})},
    {"aten::div.Scalar", kTrueDivide, kReal, kE, At({1})},
    {"aten::div.Tensor_mode", LowerDivMode, kReal, kE, At({1})},
    {"aten::div.Scalar_mode", LowerDivMode, kReal, kE, At({1})},
    {"aten::floor_divide", Guarded<FloorDivide, Factor>, kReal, kE, At({1})},
    {"aten::floor_divide.Scalar", Guarded<FloorDivide, Factor>, kReal, kE, At({1})},
    {"aten::remainder.Tensor", kRemainder, kReal, kE, At({1})},
    {"aten::remainder.Scalar", kRemainder, kReal, kE, At({1})},
    {"aten::remainder.Scalar_Tensor", kRemainder, kReal, kE, At({0})},
    {"aten::fmod.Tensor", kFmod, kReal, kE, At({1})},
    {"aten::fmod.Scalar", kFmod, kReal, kE, At({1})},
    {"aten::pow.Tensor_Tensor", SameBinary<GeneralPower>, kReal, kE},
    {"aten::pow.Scalar", SameBinary<GeneralPower>, kReal, kE, At({0})},
    {"aten::pow.Tensor_Scalar", LowerPowScalar, kReal, kE},
    {"aten::maximum", SameBinary<[](Expr a, Expr b) { return Maximum(a, b); }>, kReal, kE},
    {"aten::minimum", SameBinary<[](Expr a, Expr b) { return Minimum(a, b); }>, kReal, kE},
    {"aten::fmax", SameBinary<[](Expr a, Expr b) {
       return Select(IsNan(a), b, Select(IsNan(b), a, Maximum(a, b)));
     }>,
     kReal, kE},
    {"aten::fmin", SameBinary<[](Expr a, Expr b) {
       return Select(IsNan(a), b, Select(IsNan(b), a, Minimum(a, b)));
     }>,
     kReal, kE},
    {"aten::clamp", LowerClamp, kReal, kE, At({1, 2})},
    {"aten::clamp.Tensor", LowerClamp, kReal, kE},
    {"aten::clamp_min", SameBinary<[](Expr a, Expr b) { return Maximum(a, b); }>, kReal, kE,
     At({1})},
    {"aten::clamp_min.Tensor", SameBinary<[](Expr a, Expr b) { return Maximum(a, b); }>, kReal, kE},
    {"aten::clamp_max", SameBinary<ClampMax>, kReal, kE, At({1})},
    {"aten::clamp_max.Tensor", SameBinary<ClampMax>, kReal, kE},
    {"aten::where.self", LowerWhere, kReal, kE, At({1, 2})},
    {"aten::lerp.Tensor", LowerLerp, kFloat, kE},
    {"aten::lerp.Scalar", LowerLerp, kFloat, kE, At({2})},
    {"aten::addcmul", LowerAddc<false>, kReal, kE, At({3})},
    {"aten::addcdiv", LowerAddc<true>, kFloat, kE, At({3})},
    {"aten::atan2", FloatBinary<[](Expr a, Expr b) { return Atan2(a, b); }>, kReal, kE},
    {"aten::hypot", SameBinary<[](Expr a, Expr b) {
       const Expr big = Maximum(Abs(a), Abs(b));
       const Expr ratio = Select(big == 0.0, 0.0, Minimum(Abs(a), Abs(b)) / big);
       const Expr infinite = !IsFinite(a) && !IsNan(a);
       const Expr other = !IsFinite(b) && !IsNan(b);
       return Select(infinite, Abs(a), Select(other, Abs(b), big * Sqrt(ratio * ratio + 1.0)));
     }>,
     kFloat, kE},
    {"aten::logaddexp", FloatBinary<LogAddExp>, kFloat, kE},
    {"aten::logaddexp2", FloatBinary<[](Expr a, Expr b) {
       return LogAddExp(a * std::numbers::ln2, b * std::numbers::ln2) * (1 / std::numbers::ln2);
     }>,
     kFloat, kE},
    {"aten::copysign.Tensor", kCopysign, kFloat, kE},
    {"aten::copysign.Scalar", kCopysign, kFloat, kE, At({1})},
    {"aten::heaviside", SameBinary<[](Expr x, Expr values) {
       return Select(x == 0.0, values, (x > 0.0).As(x.dtype()));
     }>,
     kReal, kE},
    {"aten::xlogy.Tensor", kXlogy, kReal, kE},
    {"aten::xlogy.Scalar_Self", kXlogy, kReal, kE, At({0})},
    {"aten::xlogy.Scalar_Other", kXlogy, kReal, kE, At({1})},
    {"aten::special_xlog1py", kXlog1py, kReal, kE},
    {"aten::special_xlog1py.self_scalar", kXlog1py, kReal, kE, At({0})},
    {"aten::special_xlog1py.other_scalar", kXlog1py, kReal, kE, At({1})},
};

}  // namespace

constinit const std::span<const Row> kArithmeticRows = kRows;

}  // namespace neuron::lowering
