// Running sums, products and extrema: a reduce-window as long as the dimension, padded in front.
#include <limits>
#include <numbers>

#include "lowering/cast.h"
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Opcode;

Expr Scan(Expr x, Expr init, int64_t dim, Opcode opcode) {
  Builder& b = x.builder();
  std::vector<hlo::WindowDimension> window(x.dims().size());
  const int64_t n = x.dims()[static_cast<size_t>(dim)];
  if (x.num_elements() == 0) return x;
  window[static_cast<size_t>(dim)].size = n;
  window[static_cast<size_t>(dim)].padding_low = n - 1;
  return {b, b.ReduceWindow(x, init, window, b.Combiner(opcode, x.dtype()))};
}

template <Opcode kOpcode>  // (self, dim, *, dtype)
Values LowerCumulative(Builder&, Args& args) {
  const Expr self = Tensor(args, 0);
  const bool integral = IsInteger(self.dtype()) || self.dtype() == DType::kPred;
  const DType dtype = args.dtype(2).value_or(integral ? DType::kS64 : self.dtype());
  const Expr x = Cast(self, ComputeType(dtype));
  if (x.rank() == 0) return {x.As(dtype)};
  const Expr init = x.Like(kOpcode == Opcode::kAdd ? 0 : 1);
  return {Scan(x, init, WrapDim(args.integer(1), x.rank()), kOpcode).As(dtype)};
}

template <bool kMax>  // (self, dim) -> values, indices of the last extremum so far
Values LowerCumulativeExtremum(Builder& b, Args& args) {
  const Expr self = Tensor(args, 0);
  if (self.rank() == 0) return {self, b.ConstantInt(DType::kS64, 0)};
  if (IsComplex(self.dtype())) {
    b.Fail(Unimplemented("complex numbers have no order"));
    return {};
  }
  const int64_t dim = WrapDim(args.integer(1), self.rank());
  const Expr x = self.dtype() == DType::kPred ? self.As(DType::kS32) : self;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const int64_t bits = ByteSize(x.dtype()) * 8;
  Expr lowest = x.Like(kMax ? -kInf : kInf);
  if (!IsFloating(x.dtype())) {
    const int64_t top = IsUnsigned(x.dtype()) ? (int64_t{1} << bits) - 1
                                              : static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
    const int64_t bottom = IsUnsigned(x.dtype()) ? 0 : -top - 1;
    lowest = x.LikeInt(kMax ? bottom : top);
  }
  const Expr values = Scan(x, lowest, dim, kMax ? Opcode::kMaximum : Opcode::kMinimum);
  Expr hit = x == values;
  if (IsFloating(x.dtype())) hit = hit || IsNan(x);
  const Expr position = IotaS32(b, x.dims(), dim);
  const Expr index = Scan(Select(hit, position, position.LikeInt(-1)), position.LikeInt(-1), dim,
                          Opcode::kMaximum);
  return {Cast(values, self.dtype()), index.As(DType::kS64)};
}

// (self, dim): log(exp(a) + exp(b)) as the running operator, which never leaves the range of the
// logarithms.
Values LowerLogCumSumExp(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  if (!IsFloating(dtype)) {
    b.Fail(Unimplemented(args.overload(), ": ", DTypeName(dtype)));
    return {};
  }
  const Expr x = Operand(args, 0, ComputeType(dtype));
  if (x.rank() == 0 || x.num_elements() == 0) return {x.As(dtype)};
  const auto dim = static_cast<size_t>(WrapDim(args.integer(1), x.rank()));
  const hlo::Shape scalar = hlo::Shape::Array(x.dtype(), {});
  hlo::Computation* add =
      b.SubComputation("log_add_exp", {scalar, scalar}, [](Builder& inner, const auto& p) {
        const Expr a = {inner, p[0]}, c = {inner, p[1]};
        const Expr high = Maximum(a, c), low = Minimum(a, c);
        // Equal infinities have no difference.
        return Select(high == low, high + std::numbers::ln2, high + Log1p(Exp(low - high))).value();
      });
  std::vector<hlo::WindowDimension> window(x.dims().size());
  window[dim].size = x.dims()[dim];
  window[dim].padding_low = x.dims()[dim] - 1;
  const Expr y = {b,
                  b.ReduceWindow(x, x.Like(-std::numeric_limits<double>::infinity()), window, add)};
  return {y.As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::_logcumsumexp", LowerLogCumSumExp, Native::kNone},
    {"aten::cumsum", LowerCumulative<Opcode::kAdd>},
    {"aten::cumprod", LowerCumulative<Opcode::kMultiply>},
    {"aten::cummax", LowerCumulativeExtremum<true>, Native::kReal32},
    {"aten::cummin", LowerCumulativeExtremum<false>, Native::kReal32},
};

}  // namespace

constinit const std::span<const Row> kScanRows = kRows;

}  // namespace neuron::lowering
