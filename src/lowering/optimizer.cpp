// Fused optimizer steps and the gradient scaler. In-place ops: results replace the mutated lists,
// list by list; a result that is not valid leaves its tensor unchanged.
#include <cmath>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

// The gradient scaler's part of a step.
struct Scaler {
  bool scaled = false;
  Expr inverse;  // 1 / grad_scale
  Expr skip;     // pred: an infinity was found
  bool skips = false;
};
Scaler ReadScaler(Args& args, size_t grad_scale) {
  Scaler s;
  s.scaled = !args.is_none(grad_scale);
  if (s.scaled) s.inverse = Reshaped(1.0 / Operand(args, grad_scale, DType::kF32), {});
  s.skips = !args.is_none(grad_scale + 1);
  if (s.skips) s.skip = Reshaped(Operand(args, grad_scale + 1, DType::kF32), {}) != 0.0;
  return s;
}

// One list of results, converted back and held where the step is skipped.
class Updates {
 public:
  explicit Updates(const Scaler& scaler) : scaler_(scaler) {}
  void Replace(Value old, Expr now) {
    const Expr before = {now.builder(), old};
    const Expr after = now.As(old.dtype());
    values_.push_back(scaler_.skips ? Select(scaler_.skip, before, after) : after);
  }
  void Keep() { values_.emplace_back(); }
  void AppendTo(Values& out) const { out.insert(out.end(), values_.begin(), values_.end()); }

 private:
  const Scaler& scaler_;
  Values values_;
};

// The gradient that a step uses; the scaler's part of it is written back.
Expr Gradient(const Scaler& scaler, Value original, Expr grad, bool maximize, Updates& new_grads) {
  if (scaler.scaled) {
    grad = grad * scaler.inverse.As(grad.dtype());
    new_grads.Replace(original, grad);
  } else {
    new_grads.Keep();
  }
  return maximize ? -grad : grad;
}

// (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *, lr, beta1, beta2,
//  weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)
template <bool kDecoupled>  // weight decay apart from the gradient: AdamW
Values LowerAdam(Builder& b, Args& args) {
  const std::vector<Value> params = args.tensors(0), grads = args.tensors(1);
  const std::vector<Value> averages = args.tensors(2), squares = args.tensors(3);
  const std::vector<Value> maxima = args.tensors(4), steps = args.tensors(5);
  const double beta1 = args.number(7), beta2 = args.number(8);
  const double weight_decay = args.number(9), eps = args.number(10);
  const bool amsgrad = args.flag(11), maximize = args.flag(12);
  const Scaler scaler = ReadScaler(args, 13);
  Updates new_params(scaler), new_grads(scaler), new_averages(scaler), new_squares(scaler),
      new_maxima(scaler);
  for (size_t i = 0; i < params.size(); ++i) {
    const DType compute = ComputeType(params[i].dtype());
    const auto load = [&](Value v) { return Expr(b, v).As(compute); };
    const Expr lr = Reshaped(Operand(args, 6, compute), {});
    Expr param = load(params[i]);
    Expr grad = Gradient(scaler, grads[i], load(grads[i]), maximize, new_grads);
    if (weight_decay != 0) {
      if (kDecoupled)
        param = param - param * (lr * weight_decay);
      else
        grad = grad + param * weight_decay;
    }
    const Expr old_average = load(averages[i]);
    const Expr average = old_average + (grad - old_average) * (1 - beta1);
    const Expr square = load(squares[i]) * beta2 + grad * grad * (1 - beta2);
    // 1 - beta^step without the cancellation of a small step.
    const Expr step = Reshaped(load(steps[i]), {});
    const Expr correction1 = -Expm1(step * std::log(beta1));
    const Expr correction2 = Sqrt(-Expm1(step * std::log(beta2)));
    Expr peak = square;
    if (amsgrad) {
      peak = Maximum(load(maxima[i]), square);
      new_maxima.Replace(maxima[i], peak);
    } else if (i < maxima.size()) {
      new_maxima.Keep();
    }
    const Expr denominator = Sqrt(peak) / correction2 + eps;
    param = param - (lr / correction1) * average / denominator;
    new_params.Replace(params[i], param);
    new_averages.Replace(averages[i], average);
    new_squares.Replace(squares[i], square);
  }
  Values out;
  for (const Updates* list : {&new_params, &new_grads, &new_averages, &new_squares, &new_maxima})
    list->AppendTo(out);
  return out;
}

// (self, grads, momentum_buffer_list, *, weight_decay, momentum, lr, dampening, nesterov, maximize,
//  is_first_step, grad_scale, found_inf)
Values LowerSgd(Builder& b, Args& args) {
  const std::vector<Value> params = args.tensors(0), grads = args.tensors(1);
  const std::vector<Value> buffers = args.tensors(2);
  const double weight_decay = args.number(3), momentum = args.number(4);
  const double dampening = args.number(6);
  const bool nesterov = args.flag(7), maximize = args.flag(8), first = args.flag(9);
  const Scaler scaler = ReadScaler(args, 10);
  Updates new_params(scaler), new_grads(scaler), new_buffers(scaler);
  for (size_t i = 0; i < params.size(); ++i) {
    const DType compute = ComputeType(params[i].dtype());
    const auto load = [&](Value v) { return Expr(b, v).As(compute); };
    const Expr lr = Reshaped(Operand(args, 5, compute), {});
    const Expr param = load(params[i]);
    Expr grad = Gradient(scaler, grads[i], load(grads[i]), maximize, new_grads);
    if (weight_decay != 0) grad = grad + param * weight_decay;
    if (momentum != 0) {
      const Expr buffer = first ? grad : load(buffers[i]) * momentum + grad * (1 - dampening);
      new_buffers.Replace(buffers[i], buffer);
      grad = nesterov ? grad + buffer * momentum : buffer;
    } else if (i < buffers.size()) {
      new_buffers.Keep();
    }
    new_params.Replace(params[i], param - grad * lr);
  }
  Values out;
  for (const Updates* list : {&new_params, &new_grads, &new_buffers}) list->AppendTo(out);
  return out;
}

// (self, grads, state_sums, state_steps, *, lr, lr_decay, weight_decay, eps, maximize, grad_scale,
//  found_inf)
Values LowerAdagrad(Builder& b, Args& args) {
  const std::vector<Value> params = args.tensors(0), grads = args.tensors(1);
  const std::vector<Value> sums = args.tensors(2), steps = args.tensors(3);
  const double lr_decay = args.number(5), weight_decay = args.number(6), eps = args.number(7);
  const bool maximize = args.flag(8);
  const Scaler scaler = ReadScaler(args, 9);
  Updates new_params(scaler), new_grads(scaler), new_sums(scaler);
  for (size_t i = 0; i < params.size(); ++i) {
    const DType compute = ComputeType(params[i].dtype());
    const auto load = [&](Value v) { return Expr(b, v).As(compute); };
    const Expr lr = Reshaped(Operand(args, 4, compute), {});
    const Expr param = load(params[i]);
    Expr grad = Gradient(scaler, grads[i], load(grads[i]), maximize, new_grads);
    if (weight_decay != 0) grad = grad + param * weight_decay;
    const Expr step = Reshaped(load(steps[i]), {});
    const Expr rate = lr / ((step - 1.0) * lr_decay + 1.0);
    const Expr sum = load(sums[i]) + grad * grad;
    new_params.Replace(params[i], param - rate * grad / (Sqrt(sum) + eps));
    new_sums.Replace(sums[i], sum);
  }
  Values out;
  for (const Updates* list : {&new_params, &new_grads, &new_sums}) list->AppendTo(out);
  return out;
}

// (self, found_inf, inv_scale)
Values LowerUnscale(Builder& b, Args& args) {
  Expr found = Operand(args, 1, DType::kF32);
  const Expr inverse = Reshaped(Operand(args, 2, DType::kF32), {});
  Values out;
  for (const Value& x : args.tensors(0)) {
    const Expr grad = {b, x};
    const Expr bad = {b, b.ReduceOr(!IsFinite(grad), AllDims(grad.rank()))};
    found = Select(bad, 1.0, found);
    const DType compute = ComputeType(grad.dtype());
    out.push_back((grad.As(compute) * inverse.As(compute)).As(grad.dtype()));
  }
  out.push_back(found.As(args.dtype_of(1)));
  return out;
}

// (self, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval)
Values LowerUpdateScale(Builder&, Args& args) {
  const Expr scale = Tensor(args, 0);
  const Expr tracker = Tensor(args, 1);
  const Expr found = Tensor(args, 2) != 0.0;
  const Expr grown = scale * args.number(3);
  const Expr successes = tracker + 1.0;
  const Expr due = successes == successes.LikeInt(args.integer(5));
  const Expr growing = Select(due && IsFinite(grown), grown, scale);
  return {Select(found, scale * args.number(4), growing), Select(found || due, 0.0, successes)};
}

constexpr auto kFloat = Native::kFloating;

constexpr Row kRows[] = {
#define ADAM(name, decoupled) \
  {"aten::" name, LowerAdam<decoupled>, kFloat, kElementwise, At({6}), At({0, 1, 2, 3, 4})}
    ADAM("_fused_adam_", false),
    ADAM("_fused_adam_.tensor_lr", false),
    ADAM("_fused_adamw_", true),
    ADAM("_fused_adamw_.tensor_lr", true),
#undef ADAM
    {"aten::_fused_sgd_", LowerSgd, kFloat, kElementwise, At({5}), At({0, 1, 2})},
    {"aten::_fused_sgd_.tensor_lr", LowerSgd, kFloat, kElementwise, 0, At({0, 1, 2})},
    {"aten::_fused_adagrad_", LowerAdagrad, kFloat, kElementwise, At({4}), At({0, 1, 2})},
    {"aten::_fused_adagrad_.tensor_lr", LowerAdagrad, kFloat, kElementwise, 0, At({0, 1, 2})},
    {"aten::_amp_foreach_non_finite_check_and_unscale_", LowerUnscale, kFloat, kNoFlags, 0,
     At({0, 1})},
    {"aten::_amp_update_scale_", LowerUpdateScale, kFloat, kNoFlags, 0, At({0, 1})},
};

}  // namespace

constinit const std::span<const Row> kOptimizerRows = kRows;

}  // namespace neuron::lowering
