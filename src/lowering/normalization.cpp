// Layer, group and batch norm. Statistics are f32 for 16-bit inputs (f64 stays f64), as on every
// accelerator of PyTorch.
#include <cmath>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

std::optional<Expr> Optional(Args& args, size_t i, DType dtype) {
  if (args.is_none(i)) return std::nullopt;
  return Operand(args, i, dtype);
}

struct Moments {
  Expr mean, var;  // biased variance, kept dims
};
Moments MomentsOf(Expr x, const Dims& dims) {
  const auto n = static_cast<double>(CountOf(x, dims));
  const Expr mean = KeepSum(x, dims) / n;
  const Expr centred = x - mean;
  return {mean, KeepSum(centred * centred, dims) / n};
}

// d loss / d x of (x - mean) rstd, given the gradient of the normalised value.
Expr NormalizedGradient(Expr grad, Expr normalized, Expr rstd, const Dims& dims) {
  const auto n = static_cast<double>(CountOf(grad, dims));
  const Expr mean_grad = KeepSum(grad, dims) / n;
  const Expr mean_product = KeepSum(grad * normalized, dims) / n;
  return (grad - mean_grad - normalized * mean_product) * rstd;
}

Dims From(int64_t first, int64_t rank) {
  Dims dims;
  for (int64_t d = first; d < rank; ++d) dims.push_back(d);
  return dims;
}

// (input, normalized_shape, weight, bias, eps) -> out, mean, rstd
Values LowerLayerNorm(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 0, compute);
  const Dims dims = From(x.rank() - static_cast<int64_t>(args.integers(1).size()), x.rank());
  const auto [mean, var] = MomentsOf(x, dims);
  const Expr rstd = 1.0 / Sqrt(var + args.number(4));
  Expr y = (x - mean) * rstd;
  if (const auto weight = Optional(args, 2, compute)) y = y * *weight;
  if (const auto bias = Optional(args, 3, compute)) y = y + *bias;
  return {y.As(dtype), mean, rstd};
}

// (grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
Values LowerLayerNormBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute);
  const Expr x = Operand(args, 1, compute);
  const Dims normalized_shape = args.integers(2);
  const int64_t outer = x.rank() - static_cast<int64_t>(normalized_shape.size());
  const Dims inner = From(outer, x.rank());
  const Expr rstd = Operand(args, 4, compute);
  const Expr normalized = (x - Operand(args, 3, compute)) * rstd;
  const auto weight = Optional(args, 5, compute);
  const Expr weighted = weight ? grad * *weight : grad;
  const Dims rows = From(0, outer);
  const DType weight_type = args.is_none(5) ? dtype : args.dtype_of(5);
  const auto column_sum = [&](Expr e) { return Expr(b, b.ReduceSum(e, rows)).As(weight_type); };
  return {NormalizedGradient(weighted, normalized, rstd, inner).As(dtype),
          weight ? column_sum(grad * normalized) : Value(),
          args.is_none(6) ? Value() : column_sum(grad)};
}

// (input, weight, bias, N, C, HxW, group, eps) -> out, mean[N, G], rstd[N, G]
Values LowerGroupNorm(Builder&, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr self = Operand(args, 0, compute);
  const int64_t n = args.integer(3), c = args.integer(4), hw = args.integer(5);
  const int64_t groups = args.integer(6);
  const Expr x = Reshaped(self, {n, groups, c / groups * hw});
  const auto [mean, var] = MomentsOf(x, {2});
  const Expr rstd = 1.0 / Sqrt(var + args.number(7));
  Expr y = Reshaped((x - mean) * rstd, {n, c, hw});
  if (const auto weight = Optional(args, 1, compute)) y = y * Reshaped(*weight, {c, 1});
  if (const auto bias = Optional(args, 2, compute)) y = y + Reshaped(*bias, {c, 1});
  return {Reshaped(y, self.dims()).As(dtype), Reshaped(mean, {n, groups}),
          Reshaped(rstd, {n, groups})};
}

// (grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)
Values LowerGroupNormBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const int64_t n = args.integer(5), c = args.integer(6), hw = args.integer(7);
  const int64_t groups = args.integer(8);
  const Dims grouped = {n, groups, c / groups * hw};
  const Dims channels = {n, c, hw};
  const Expr grad = Reshaped(Operand(args, 0, compute), channels);
  const Expr x = Reshaped(Operand(args, 1, compute), grouped);
  const Expr mean = Reshaped(Operand(args, 2, compute), {n, groups, 1});
  const Expr rstd = Reshaped(Operand(args, 3, compute), {n, groups, 1});
  const Expr normalized = (x - mean) * rstd;
  const auto weight = Optional(args, 4, compute);
  const Expr weighted = weight ? grad * Reshaped(*weight, {c, 1}) : grad;
  const DType weight_type = weight ? args.dtype_of(4) : dtype;
  const auto channel_sum = [&](Expr e) { return Expr(b, b.ReduceSum(e, {0, 2})).As(weight_type); };
  const Expr grad_input = NormalizedGradient(Reshaped(weighted, grouped), normalized, rstd, {2});
  const Dims input_dims = args.tensor(1).shape().dims;
  return {Reshaped(grad_input, input_dims).As(dtype),
          channel_sum(grad * Reshaped(normalized, channels)), channel_sum(grad)};
}

// Per channel: x is [N, C, ...].
struct Channels {
  Dims reduced;    // all but C
  Dims broadcast;  // [1, C, 1, ...]
  double count = 1;
};
Channels ChannelsOf(const Expr& x) {
  Channels ch;
  ch.broadcast = Dims(x.dims().size(), 1);
  ch.broadcast[1] = x.dims()[1];
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d != 1) ch.reduced.push_back(d);
  }
  ch.count = static_cast<double>(CountOf(x, ch.reduced));
  return ch;
}

Expr InverseStd(Expr var, double eps) { return 1.0 / Sqrt(var + eps); }

struct BatchNorm {
  Expr out, save_mean, save_rstd;   // statistics [C], or [0] in evaluation
  Value running_mean, running_var;  // new values; not valid: unchanged
};
// Positions of input, weight, bias, running mean, running variance are 0 to 4.
BatchNorm Normalize(Builder& b, Args& args, bool training, double momentum, double eps) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 0, compute);
  const Channels ch = ChannelsOf(x);
  const Dims c = {x.dims()[1]};
  BatchNorm result;
  Expr mean, rstd;
  if (training) {
    const auto [m, var] = MomentsOf(x, ch.reduced);
    mean = m;
    rstd = InverseStd(var, eps);
    result.save_mean = Reshaped(mean, c);
    result.save_rstd = Reshaped(rstd, c);
    const auto moved = [&](size_t i, Expr now) -> Value {
      if (args.is_none(i)) return {};
      const Expr old = Operand(args, i, compute);
      return (now * momentum + old * (1 - momentum)).As(args.dtype_of(i));
    };
    result.running_mean = moved(3, result.save_mean);
    const double unbias = ch.count / std::max(ch.count - 1, 1.0);
    result.running_var = moved(4, Reshaped(var, c) * unbias);
  } else {
    mean = Reshaped(Operand(args, 3, compute), ch.broadcast);
    rstd = InverseStd(Reshaped(Operand(args, 4, compute), ch.broadcast), eps);
    const Expr empty = {b, b.Full(hlo::Shape::Array(compute, {0}), 0)};
    result.save_mean = result.save_rstd = empty;
  }
  Expr y = (x - mean) * rstd;
  if (const auto weight = Optional(args, 1, compute)) y = y * Reshaped(*weight, ch.broadcast);
  if (const auto bias = Optional(args, 2, compute)) y = y + Reshaped(*bias, ch.broadcast);
  result.out = y.As(dtype);
  return result;
}

// native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
Values LowerBatchNorm(Builder& b, Args& args) {
  const BatchNorm r = Normalize(b, args, args.flag(5), args.number(6), args.number(7));
  return {r.out, r.save_mean, r.save_rstd, r.running_mean, r.running_var};
}
Values LowerBatchNormFunctional(Builder& b, Args& args) {
  BatchNorm r = Normalize(b, args, args.flag(5), args.number(6), args.number(7));
  if (!r.running_mean.valid()) r.running_mean = args.tensor(3);
  if (!r.running_var.valid()) r.running_var = args.tensor(4);
  return {r.out, r.save_mean, r.save_rstd, r.running_mean, r.running_var};
}
// _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps): the
// fourth result is what a backend keeps for backward, of which there is nothing.
Values LowerBatchNormWithUpdate(Builder& b, Args& args) {
  const BatchNorm r = Normalize(b, args, true, args.number(5), args.number(6));
  return {r.out,          r.save_mean,  r.save_rstd, b.Full(hlo::Shape::Array(DType::kU8, {0}), 0),
          r.running_mean, r.running_var};
}
// _native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum,
// eps): in graphs only, where its statistics have the shape that PyTorch's decomposition gives
// them.
Values LowerBatchNormNoTraining(Builder& b, Args& args) {
  const BatchNorm r = Normalize(b, args, false, args.number(5), args.number(6));
  const Expr mean = Operand(args, 3, ComputeType(args.dtype_of(0)));
  const Expr var = Operand(args, 4, ComputeType(args.dtype_of(0)));
  return {r.out, mean, InverseStd(var, args.number(6))};
}
// _native_batch_norm_legit.no_stats(input, weight, bias, training, momentum, eps)
Values LowerBatchNormNoStats(Builder& b, Args& args) {
  std::vector<ArgValue> values;
  for (size_t i = 0; i < 3; ++i) values.push_back(args[i]);
  values.resize(5);
  Args inner(b, args.overload(), std::move(values), 0);
  const BatchNorm r = Normalize(b, inner, true, 0, args.number(5));
  return {r.out, r.save_mean, r.save_rstd};
}

// (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask)
Values LowerBatchNormBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr grad = Operand(args, 0, compute);
  const Expr x = Operand(args, 1, compute);
  const Channels ch = ChannelsOf(x);
  const bool train = args.flag(7);
  const auto per_channel = [&](size_t i) {
    return Reshaped(Operand(args, i, compute), ch.broadcast);
  };
  const Expr mean = train ? per_channel(5) : per_channel(3);
  const Expr rstd = train ? per_channel(6) : InverseStd(per_channel(4), args.number(8));
  const Expr normalized = (x - mean) * rstd;
  const Expr weighted = args.is_none(2) ? grad : grad * per_channel(2);
  const DType weight_type = args.is_none(2) ? dtype : args.dtype_of(2);
  const Expr grad_input =
      train ? NormalizedGradient(weighted, normalized, rstd, ch.reduced) : weighted * rstd;
  const auto channel_sum = [&](Expr e) {
    return Expr(b, b.ReduceSum(e, ch.reduced)).As(weight_type);
  };
  return {grad_input.As(dtype), channel_sum(grad * normalized), channel_sum(grad)};
}

constexpr auto kFloat = Native::kFloating;
constexpr uint32_t kStats = At({3, 4});

constexpr Row kRows[] = {
    {"aten::native_layer_norm", LowerLayerNorm},
    {"aten::native_layer_norm_backward", LowerLayerNormBackward},
    {"aten::native_group_norm", LowerGroupNorm},
    {"aten::native_group_norm_backward", LowerGroupNormBackward},
    {"aten::native_batch_norm", LowerBatchNorm, kFloat, kNoFlags, 0, kStats},
    {"aten::_native_batch_norm_legit", LowerBatchNorm, kFloat, kNoFlags, 0, kStats},
    {"aten::_native_batch_norm_legit_functional", LowerBatchNormFunctional},
    {"aten::_batch_norm_with_update", LowerBatchNormWithUpdate, kFloat, kNoFlags, 0, kStats},
    {"aten::_native_batch_norm_legit_no_training", LowerBatchNormNoTraining, kFloat, kGraphOnly},
    {"aten::_native_batch_norm_legit.no_stats", LowerBatchNormNoStats},
    {"aten::native_batch_norm_backward", LowerBatchNormBackward},
    {"aten::batch_norm_backward", LowerBatchNormBackward},
};

}  // namespace

constinit const std::span<const Row> kNormalizationRows = kRows;

}  // namespace neuron::lowering
