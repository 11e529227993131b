// Random fills and draws. The in-place forms (uniform_, random_, ...) overwrite self, of which only
// shape and dtype matter; those without a functional partner are rows of their own.
#include <cmath>
#include <limits>
#include <numbers>

#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/random_bits.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

constexpr double kPi = std::numbers::pi;

// The dims and dtype a draw fills: like self, or by size and stated dtype.
struct Target {
  Dims dims;
  DType dtype;
};
Target LikeSelf(Args& args) { return {Tensor(args, 0).dims(), args.dtype_of(0)}; }
Target LikeSelf(Args& args, size_t dtype) {
  return {Tensor(args, 0).dims(), args.dtype(dtype).value_or(args.dtype_of(0))};
}
Target Sized(const Args& args, size_t size, size_t dtype, DType otherwise) {
  return {args.integers(size), args.dtype(dtype).value_or(otherwise)};
}

Expr Uniform(Args& args, const Target& t) { return RandomUniform(args, t.dims, t.dtype); }
Expr Normal(Args& args, const Target& t) { return RandomNormal(args, t.dims, t.dtype); }

// (self, from, to)
Values LowerUniform(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  const Expr u = Uniform(args, t);
  const Expr from = Scalar(args, 1, u.dtype());
  return {(u * (Scalar(args, 2, u.dtype()) - from) + from).As(t.dtype)};
}
Values LowerRand(Builder&, Args& args) {
  const Target t = Sized(args, 0, 1, args.default_dtype());
  return {Uniform(args, t).As(t.dtype)};
}
Values LowerRandLike(Builder&, Args& args) {
  const Target t = LikeSelf(args, 1);
  return {Uniform(args, t).As(t.dtype)};
}
Values LowerRandn(Builder&, Args& args) {
  const Target t = Sized(args, 0, 1, args.default_dtype());
  return {Normal(args, t).As(t.dtype)};
}
Values LowerRandnLike(Builder&, Args& args) {
  const Target t = LikeSelf(args, 1);
  return {Normal(args, t).As(t.dtype)};
}

// (self, mean, std)
Values LowerNormal(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  const Expr z = Normal(args, t);
  return {(z * Scalar(args, 2, z.dtype()) + Scalar(args, 1, z.dtype())).As(t.dtype)};
}
Values LowerLogNormal(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  const Expr z = Normal(args, t);
  return {Exp(z * Scalar(args, 2, z.dtype()) + Scalar(args, 1, z.dtype())).As(t.dtype)};
}
// (mean, std): tensors or numbers that broadcast
Values LowerNormalTensors(Builder&, Args& args) {
  const DType dtype = args.ResultType({0, 1});
  const DType compute = ComputeType(dtype);
  const Expr both[] = {Operand(args, 0, compute), Operand(args, 1, compute)};
  const Expr z = RandomNormal(args, BroadcastDims(both), dtype);
  return {(z * both[1] + both[0]).As(dtype)};
}

// (self, lambda)
Values LowerExponential(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  const Expr u = Uniform(args, t);
  return {(-Log(1.0 - u) / Scalar(args, 1, u.dtype())).As(t.dtype)};
}
// (self, p)
Values LowerGeometric(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  const Expr u = RandomUniform(args, t.dims, t.dtype == DType::kF64 ? t.dtype : DType::kF32);
  const Expr p = Scalar(args, 1, u.dtype());
  return {Cast(Maximum(Ceil(Log(1.0 - u) / Log1p(-p)), 1.0), t.dtype)};
}
// (self, median, sigma)
Values LowerCauchy(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  const Expr u = Uniform(args, t);
  const Expr x = Tan((u - 0.5) * kPi);
  return {(x * Scalar(args, 2, u.dtype()) + Scalar(args, 1, u.dtype())).As(t.dtype)};
}

// True with probability p, compared in f32.
Expr Bernoulli(Args& args, const Dims& dims, Expr p) {
  return RandomUniform(args, dims, DType::kF32) < p;
}
Values LowerBernoulli(Builder&, Args& args) {
  const Expr p = Operand(args, 0, DType::kF32);
  ReportOutsideUnitInterval(args, 0, p);
  return {Bernoulli(args, p.dims(), p).As(args.dtype_of(0))};
}
Values LowerBernoulliP(Builder&, Args& args) {  // (self, p), a number or a tensor
  const Target t = LikeSelf(args);
  const Expr given = Operand(args, 1, DType::kF32);
  if (!args.is_number(1)) ReportOutsideUnitInterval(args, 1, given);
  const Expr p = given.BroadcastTo(t.dims);
  return {Bernoulli(args, t.dims, p).As(t.dtype)};
}

// (self, noise, lower, upper, training): a slope per element below zero, which noise keeps
Values LowerRrelu(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 0, compute);
  const double lower = args.number_or(2, 1.0 / 8), upper = args.number_or(3, 1.0 / 3);
  if (args.is_none(4) || !args.flag(4))
    return {Select(x > 0.0, x, x * ((lower + upper) / 2)).As(dtype), hlo::Value()};
  const Expr u = RandomUniform(args, x.dims(), compute);
  const Expr slope = Select(x > 0.0, x.Like(1).BroadcastTo(x.dims()), u * (upper - lower) + lower);
  return {(x * slope).As(dtype), slope.As(dtype)};
}
// Integers from [low, high), uniform up to the bias of a 32 or 64-bit remainder.
Expr Integers(Args& args, const Target& t, int64_t low, uint64_t range) {
  const bool wide = range > (uint64_t{1} << 32);
  const Expr bits = RandomBits(args, t.dims, wide ? DType::kU64 : DType::kU32);
  const bool whole = range == 0 || (!wide && range == (uint64_t{1} << 32));
  const Expr r = whole ? bits : Remainder(bits, bits.LikeInt(static_cast<int64_t>(range)));
  if (!wide && low >= 0 && static_cast<uint64_t>(low) + range <= (uint64_t{1} << 31)) {
    const Expr small = r.As(DType::kS32);
    return Cast(small + small.LikeInt(low), t.dtype);
  }
  const Expr big = r.As(DType::kS64);
  return Cast(big + big.LikeInt(low), t.dtype);
}

// All values of an integer dtype from 0 up; of a float dtype all integers it holds exactly.
Values LowerRandom(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  if (t.dtype == DType::kPred) return {Integers(args, t, 0, 2)};
  int64_t bits = ByteSize(t.dtype) * 8 - (IsSigned(t.dtype) ? 1 : 0);
  if (IsFloating(t.dtype)) {
    bits = t.dtype == DType::kF64    ? 53
           : t.dtype == DType::kF16  ? 11
           : t.dtype == DType::kBF16 ? 8
                                     : 24;
    return {Integers(args, t, 0, (uint64_t{1} << bits) + 1)};
  }
  return {Integers(args, t, 0, bits == 64 ? 0 : uint64_t{1} << bits)};
}
template <int kLow, int kHigh>  // argument positions; kLow -1: 0
Values LowerRandomRange(Builder&, Args& args) {
  const Target t = LikeSelf(args);
  const int64_t low = kLow < 0 ? 0 : args.integer(static_cast<size_t>(kLow));
  const int64_t high = args.integer_or(kHigh, std::numeric_limits<int64_t>::max());
  return {Integers(args, t, low, static_cast<uint64_t>(high) - static_cast<uint64_t>(low))};
}
template <int kLow, int kHigh, int kSize>
Values LowerRandint(Builder&, Args& args) {
  const Target t = Sized(args, kSize, kSize + 1, DType::kS64);
  const int64_t low = kLow < 0 ? 0 : args.integer(static_cast<size_t>(kLow));
  return {Integers(args, t, low, static_cast<uint64_t>(args.integer(kHigh) - low))};
}
template <int kLow, int kHigh>
Values LowerRandintLike(Builder&, Args& args) {
  const Target t = LikeSelf(args, kHigh + 1);
  const int64_t low = kLow < 0 ? 0 : args.integer(static_cast<size_t>(kLow));
  return {Integers(args, t, low, static_cast<uint64_t>(args.integer(kHigh) - low))};
}

// A permutation: the places of sorted random keys.
Values LowerRandperm(Builder& b, Args& args) {
  const int64_t n = args.integer(0);
  const DType dtype = args.dtype(1).value_or(DType::kS64);
  if (n == 0) return {b.Full(Shape::Array(dtype, {0}), 0)};
  const Expr bits = RandomBits(args, {n}, DType::kU32);
  return {Cast(SortAlong({b, b.BitcastConvert(bits, DType::kS32)}, 0, false).places, dtype)};
}

// (self, num_samples, replacement): the largest of p / e, e exponential, is a draw by p.
Values LowerMultinomial(Builder& b, Args& args) {
  const Expr p = Operand(args, 0, DType::kF32);
  const int64_t samples = args.integer(1);
  const int64_t last = p.rank() - 1;
  const bool independent = args.flag(2) || samples == 1;
  const double largest = std::numeric_limits<float>::max();
  args.Report(DataError::kNegativeProbability, 0, !((p >= 0.0) && (p <= largest)));
  args.Report(DataError::kEmptyDistribution, 0, KeepSum(p, {last}) <= 0.0);
  if (!independent) {
    const Expr noise = -Log(1.0 - RandomUniform(args, p.dims(), DType::kF32));
    const Sorted s = SortAlong(p / noise, last, true);
    return {Expr(b, b.SliceInDim(s.places, 0, samples, 1, last)).As(DType::kS64)};
  }
  Dims wide = p.dims(), narrow = p.dims(), result = p.dims();
  wide.insert(wide.end() - 1, samples);
  narrow.insert(narrow.end() - 1, 1);
  result.back() = samples;
  const Expr noise = -Log(1.0 - RandomUniform(args, wide, DType::kF32));
  const Expr place = Locate(Reshaped(p, narrow) / noise, last + 1, true).index;
  return {Reshaped(place, result).As(DType::kS64)};
}

// (input, p, train) -> output, mask
Values LowerDropout(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const double p = args.number(1);
  const bool train = args.is_none(2) || args.flag(2);
  const auto mask_of = [&](double value) {
    return Expr(b, b.Full(Shape::Array(DType::kPred, x.dims()), value));
  };
  if (!train || p == 0) return {x.As(dtype), mask_of(1)};
  if (p == 1) return {(x * 0.0).As(dtype), mask_of(0)};
  const Expr u = RandomUniform(args, x.dims(), DType::kF32);
  const Expr mask = u < 1 - p;
  return {(x * mask.As(x.dtype()) * (1 / (1 - p))).As(dtype), mask};
}
// (grad_output, mask, scale)
Values LowerDropoutBackward(Builder&, Args& args) {
  const DType dtype = FloatType(args, args.dtype_of(0));
  const DType compute = ComputeType(dtype);
  return {
      (Operand(args, 0, compute) * Operand(args, 1, compute) * Scalar(args, 2, compute)).As(dtype)};
}

constexpr auto kNone = Native::kNone;
constexpr uint32_t kR = kRandom;
constexpr uint32_t kNew = kRandom | kCreation;
constexpr uint32_t kSelf = At({0});

constexpr Row kRows[] = {
    {"aten::rand", LowerRand, kNone, kNew},
    {"aten::randn", LowerRandn, kNone, kNew},
    {"aten::rand_like", LowerRandLike, kNone, kR},
    {"aten::randn_like", LowerRandnLike, kNone, kR},
    {"aten::randint", LowerRandint<-1, 0, 1>, kNone, kNew},
    {"aten::randint.low", LowerRandint<0, 1, 2>, kNone, kNew},
    {"aten::randint_like", LowerRandintLike<-1, 1>, kNone, kR},
    {"aten::randint_like.low_dtype", LowerRandintLike<1, 2>, kNone, kR},
    {"aten::randperm", LowerRandperm, kNone, kNew},
    {"aten::uniform", LowerUniform, kNone, kR, At({1, 2})},
    {"aten::normal_functional", LowerNormal, kNone, kR, At({1, 2})},
    {"aten::normal_", LowerNormal, kNone, kR, At({1, 2}), kSelf},
    {"aten::normal.Tensor_float", LowerNormalTensors, kNone, kR, At({1})},
    {"aten::normal.float_Tensor", LowerNormalTensors, kNone, kR, At({0})},
    {"aten::normal.Tensor_Tensor", LowerNormalTensors, kNone, kR},
    {"aten::log_normal", LowerLogNormal, kNone, kR, At({1, 2})},
    {"aten::exponential", LowerExponential, kNone, kR, At({1})},
    {"aten::geometric", LowerGeometric, kNone, kR, At({1})},
    {"aten::cauchy", LowerCauchy, kNone, kR, At({1, 2})},
    {"aten::bernoulli", LowerBernoulli, kNone, kR},
    {"aten::bernoulli.p", LowerBernoulliP, kNone, kR, At({1})},
    {"aten::bernoulli_.float", LowerBernoulliP, kNone, kR, At({1}), kSelf},
    {"aten::bernoulli.Tensor", LowerBernoulliP, kNone, kR},
    {"aten::random", LowerRandom, kNone, kR},
    {"aten::random.from", LowerRandomRange<1, 2>, kNone, kR},
    {"aten::random.to", LowerRandomRange<-1, 1>, kNone, kR},
    {"aten::multinomial", LowerMultinomial, kNone, kR},
    {"aten::native_dropout", LowerDropout, kNone, kR},
    {"aten::rrelu_with_noise", LowerRrelu, kNone, kR, 0, At({1})},
    {"aten::rrelu_with_noise_", LowerRrelu, kNone, kR, 0, At({0, 1})},
    {"aten::native_dropout_backward", LowerDropoutBackward, Native::kFloating, kElementwise,
     At({2})},
};

}  // namespace

constinit const std::span<const Row> kRandomRows = kRows;

}  // namespace neuron::lowering
