// Sums, products, extrema and logic over dimensions.
#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

struct Reduction {
  Dims dims;
  bool keepdim = false;
};
Reduction All(const Expr& x) { return {AllDims(x.rank()), false}; }
// dims at position 1, keepdim at 2.
Reduction Given(const Args& args, const Expr& x) {
  return {ReducedDims(args, 1, x.rank()), args.flag(2)};
}

// The dtype sums and products accumulate and return: integers become s64.
DType SumType(const Args& args, size_t position, DType dtype) {
  if (const auto stated = args.dtype(position)) return *stated;
  return IsInteger(dtype) || dtype == DType::kPred ? DType::kS64 : dtype;
}

// A sum of n values of a narrow integer type stays below 2^31 and needs no 64-bit addition.
bool FitsS32(DType dtype, int64_t n) {
  const int64_t bits = dtype == DType::kPred ? 1 : ByteSize(dtype) * 8;
  return bits <= 16 && n < (int64_t{1} << (31 - bits));
}

Expr Sum(Expr x, const Reduction& r, DType dtype) {
  const DType from = x.dtype();
  const int64_t n = CountOf(x, r.dims);
  if (dtype == DType::kS64 && FitsS32(from, n)) {
    return DropDims(KeepSum(x.As(DType::kS32), r.dims), r.dims, r.keepdim).As(dtype);
  }
  const DType compute = ComputeType(dtype);
  return DropDims(KeepSum(Cast(x, compute), r.dims), r.dims, r.keepdim).As(dtype);
}

Values LowerSum(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Sum(x, All(x), SumType(args, 1, x.dtype()))};
}
Values LowerSumDims(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Sum(x, Given(args, x), SumType(args, 3, x.dtype()))};
}
Values LowerNanSum(Builder&, Args& args) {
  Expr x = Tensor(args, 0);
  if (IsFloating(x.dtype())) x = Select(IsNan(x), 0.0, x);
  return {Sum(x, Given(args, x), SumType(args, 3, x.dtype()))};
}

Expr Mean(Expr x, const Reduction& r, DType dtype) {
  const DType compute = ComputeType(dtype);
  const auto n = static_cast<double>(CountOf(x, r.dims));
  return DropDims(KeepSum(Cast(x, compute), r.dims) / n, r.dims, r.keepdim).As(dtype);
}
Values LowerMean(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Mean(x, All(x), args.dtype(1).value_or(x.dtype()))};
}
Values LowerMeanDims(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Mean(x, Given(args, x), args.dtype(3).value_or(x.dtype()))};
}

Expr Prod(Expr x, const Reduction& r, DType dtype) {
  Builder& b = x.builder();
  Expr y = Cast(x, ComputeType(dtype));
  Dims kept = y.dims();
  for (const int64_t d : r.dims) kept[static_cast<size_t>(d)] = 1;
  y = Reshaped({b, b.ReduceProduct(y, r.dims)}, kept);
  return DropDims(y, r.dims, r.keepdim).As(dtype);
}
Values LowerProd(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Prod(x, All(x), SumType(args, 1, x.dtype()))};
}
Values LowerProdDim(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Prod(x, Given(args, x), SumType(args, 3, x.dtype()))};
}

// pred has no maximum in every compiler's eyes: or and and.
Expr Extremum(Expr x, const Reduction& r, bool max) {
  if (x.dtype() == DType::kPred) {
    const Expr y = x.As(DType::kS32);
    return DropDims(max ? KeepMax(y, r.dims) : KeepMin(y, r.dims), r.dims, r.keepdim) != 0.0;
  }
  return DropDims(max ? KeepMax(x, r.dims) : KeepMin(x, r.dims), r.dims, r.keepdim);
}
template <bool kMax>
Values LowerExtremum(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Extremum(x, All(x), kMax)};
}
template <bool kMax>
Values LowerExtremumDims(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Extremum(x, Given(args, x), kMax)};
}
Values LowerAminmax(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  const Reduction r = Given(args, x);
  return {Extremum(x, r, false), Extremum(x, r, true)};
}

// Index 0, for scalars.
Expr FullS64(Expr x) { return {x.builder(), x.builder().ConstantInt(DType::kS64, 0)}; }

template <bool kMax>
Values LowerMaxDim(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  if (x.rank() == 0) return {x, FullS64(x)};
  const int64_t dim = WrapDim(args.integer(1), x.rank());
  const Located found = Locate(x, dim, kMax);
  const bool keepdim = args.flag(2);
  return {Cast(DropDims(found.value, {dim}, keepdim), x.dtype()),
          DropDims(found.index, {dim}, keepdim).As(DType::kS64)};
}

template <bool kMax>
Values LowerArgMax(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  const bool keepdim = args.flag(2);
  if (x.rank() == 0) return {FullS64(x)};
  if (args.is_none(1)) {
    const Expr index = Locate(Reshaped(x, {x.num_elements()}), 0, kMax).index;
    return {Reshaped(index, keepdim ? Dims(x.dims().size(), 1) : Dims{}).As(DType::kS64)};
  }
  const int64_t dim = WrapDim(args.integer(1), x.rank());
  return {DropDims(Locate(x, dim, kMax).index, {dim}, keepdim).As(DType::kS64)};
}

Expr Truth(Expr x) { return x.dtype() == DType::kPred ? x : x != 0.0; }
template <bool kAll>
Expr Logic(Expr x, const Reduction& r) {
  Builder& b = x.builder();
  const Expr t = Truth(x);
  const Expr y = {b, kAll ? b.ReduceAnd(t, r.dims) : b.ReduceOr(t, r.dims)};
  // u8 keeps its dtype, an old promise of all() and any().
  const Expr typed = x.dtype() == DType::kU8 ? y.As(DType::kU8) : y;
  if (!r.keepdim) return typed;
  Dims kept = x.dims();
  for (const int64_t d : r.dims) kept[static_cast<size_t>(d)] = 1;
  return Reshaped(typed, kept);
}
template <bool kAll>
Values LowerLogic(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Logic<kAll>(x, All(x))};
}
template <bool kAll>
Values LowerLogicDims(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Logic<kAll>(x, Given(args, x))};
}

Values LowerCountNonzero(Builder&, Args& args) {
  const Expr x = Truth(Tensor(args, 0));
  return {Sum(x, {ReducedDims(args, 1, x.rank()), false}, DType::kS64)};
}

Values LowerLogSumExp(Builder&, Args& args) {
  const DType dtype = FloatType(args, args.dtype_of(0));
  const Expr x = Operand(args, 0, ComputeType(dtype));
  const Reduction r = Given(args, x);
  const Expr top = KeepMax(x, r.dims);
  const Expr shift = Select(!IsFinite(top), 0.0, top);
  return {DropDims(Log(KeepSum(Exp(x - shift), r.dims)) + shift, r.dims, r.keepdim).As(dtype)};
}

Values LowerTrace(Builder& b, Args& args) {
  const Expr x = Tensor(args, 0);
  const int64_t n = std::min(x.dims()[0], x.dims()[1]);
  const int64_t pitch = x.dims()[1] + 1;
  const Expr flat = Reshaped(x, {x.num_elements()});
  const Expr diagonal = {b, b.SliceInDim(flat, 0, n == 0 ? 0 : (n - 1) * pitch + 1, pitch, 0)};
  return {Sum(diagonal, All(diagonal), SumType(args, 1, x.dtype()))};
}

constexpr auto kReal = Native::kReal32;
constexpr auto kFloat = Native::kFloating;

constexpr Row kRows[] = {
    {"aten::sum", LowerSum, kFloat},
    {"aten::sum.dim_IntList", LowerSumDims, kFloat},
    {"aten::nansum", LowerNanSum, kFloat},
    {"aten::mean", LowerMean, kFloat},
    {"aten::mean.dim", LowerMeanDims, kFloat},
    {"aten::prod", LowerProd, kFloat},
    {"aten::prod.dim_int", LowerProdDim, kFloat},
    {"aten::max", LowerExtremum<true>, kReal},
    {"aten::min", LowerExtremum<false>, kReal},
    {"aten::amax", LowerExtremumDims<true>, kReal},
    {"aten::amin", LowerExtremumDims<false>, kReal},
    {"aten::aminmax", LowerAminmax, kReal},
    {"aten::max.dim", LowerMaxDim<true>, kReal},
    {"aten::min.dim", LowerMaxDim<false>, kReal},
    {"aten::argmax", LowerArgMax<true>, kReal},
    {"aten::argmin", LowerArgMax<false>, kReal},
    {"aten::all", LowerLogic<true>, kReal},
    {"aten::all.dim", LowerLogicDims<true>, kReal},
    {"aten::all.dims", LowerLogicDims<true>, kReal},
    {"aten::any", LowerLogic<false>, kReal},
    {"aten::any.dim", LowerLogicDims<false>, kReal},
    {"aten::any.dims", LowerLogicDims<false>, kReal},
    {"aten::count_nonzero", LowerCountNonzero, kReal},
    {"aten::count_nonzero.dim_IntList", LowerCountNonzero, kReal},
    {"aten::logsumexp", LowerLogSumExp, kReal},
    {"aten::trace", LowerTrace, kFloat},
};

}  // namespace

constinit const std::span<const Row> kReductionRows = kRows;

}  // namespace neuron::lowering
