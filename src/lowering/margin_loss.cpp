// Losses of a margin between the classes that are right and those that are not.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };  // at::Reduction

// Samples [N, C]; one sample may come as [C], or as a number.
struct Samples {
  Expr x;
  int64_t count = 1, classes = 1;
  bool single = false;
};
Samples AsSamples(Expr x) {
  Samples s;
  s.single = x.rank() <= 1;
  s.classes = x.rank() == 0 ? 1 : x.dims().back();
  s.count = s.single ? 1 : x.dims()[0];
  s.x = Reshaped(x, {s.count, s.classes});
  return s;
}

// `loss` [N] as the op returns it.
Expr Reduced(Expr loss, const Samples& s, int64_t reduction) {
  if (reduction == kNone) return s.single ? Reshaped(loss, {}) : loss;
  const Expr sum = {loss.builder(), loss.builder().ReduceSum(loss, {0})};
  return reduction == kSum ? sum : sum / static_cast<double>(s.count);
}
// The incoming gradient per sample, [N, 1].
Expr Incoming(Expr grad, const Samples& s, int64_t reduction) {
  if (reduction == kNone) return Reshaped(grad, {s.count, 1});
  const Expr one = Reshaped(grad, {1, 1});
  return (reduction == kMean ? one / static_cast<double>(s.count) : one).BroadcastTo({s.count, 1});
}

// The margins that are violated: z [N, C] = margin - x[target] + x, where it is positive and its
// class is another; scaled by the target's weight over C.
struct Violations {
  Expr hit, z, scale;  // scale [N, 1]
};
Violations Violated(Args& args, const Samples& s, size_t target, size_t margin, size_t weight) {
  Builder& b = args.builder();
  const DType dtype = s.x.dtype();
  const Expr index = CheckedIndex(args, Reshaped(Tensor(args, target), {s.count, 1}),
                                  {s.classes, 1, DataError::kPlaceOutOfRange},
                                  static_cast<int32_t>(target), false);
  Violations v;
  v.hit = IotaS32(b, s.x.dims(), 1) == index;
  const Expr right = KeepSum(Select(v.hit, s.x, 0.0), {1});
  const Expr z = s.x - right + Scalar(args, margin, dtype);
  v.z = Select(v.hit || !(z > 0.0), 0.0, z);
  const auto classes = static_cast<double>(s.classes);
  v.scale = {b, b.Full(hlo::Shape::Array(dtype, {s.count, 1}), 1 / classes)};
  if (!args.is_none(weight)) {
    const Expr w = Reshaped(Operand(args, weight, dtype), {1, s.classes});
    v.scale = KeepSum(Select(v.hit, w.BroadcastTo(s.x.dims()), 0.0), {1}) / classes;
  }
  return v;
}

bool RefuseEmpty(Args& args, const Expr& x) {
  if (x.num_elements() > 0) return false;
  args.builder().Fail(Unimplemented(args.overload(), ": no elements"));
  return true;
}

// (self, target, p, margin, weight, reduction); p is 1 or 2
Values LowerMultiMargin(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  if (RefuseEmpty(args, x)) return {};
  const Samples s = AsSamples(x);
  const Violations v = Violated(args, s, 1, 3, 4);
  const Expr power = args.scalar_is(2, 2) ? v.z * v.z : v.z;
  const Expr loss = {b, b.ReduceSum(power * v.scale, {1})};
  return {Reduced(loss, s, args.integer_or(5, kMean)).As(dtype)};
}
// (grad_output, self, target, p, margin, weight, reduction)
Values LowerMultiMarginBackward(Builder&, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 1, compute);
  if (RefuseEmpty(args, x)) return {};
  const Samples s = AsSamples(x);
  const Violations v = Violated(args, s, 2, 4, 5);
  const Expr slope = args.scalar_is(3, 2) ? v.z * 2.0 : (v.z > 0.0).As(compute);
  const Expr others =
      slope * v.scale * Incoming(Operand(args, 0, compute), s, args.integer_or(6, kMean));
  const Expr right = (-KeepSum(others, {1})).BroadcastTo(others.dims());
  return {Reshaped(Select(v.hit, right, others), x.dims()).As(dtype)};
}

// Targets are lists of classes that end at the first negative one.
struct Labels {
  Expr hit;        // [N, K, C] pred: entry k of the list is this class
  Expr listed;     // [N, K, 1] pred: entry k belongs to the list
  Expr is_target;  // [N, 1, C] pred
};
Labels ReadLabels(Args& args, const Samples& s, size_t argument) {
  Builder& b = args.builder();
  const int64_t n = s.count, c = s.classes;
  const Expr target = Reshaped(Tensor(args, argument).As(DType::kS32), {n, c});
  const Expr position = IotaS32(b, {n, c}, 1);
  const Expr end = KeepMin(Select(target < 0.0, position, position.LikeInt(c)), {1});
  Labels l;
  const Expr listed = position < end.BroadcastTo({n, c});
  args.Report(DataError::kPlaceOutOfRange, static_cast<int32_t>(argument),
              listed && (target >= target.LikeInt(c)), target, {}, {c, 1});
  l.listed = Reshaped(listed, {n, c, 1});
  const Expr of_class = Reshaped(target, {n, c, 1}) == IotaS32(b, {n, c, c}, 2);
  l.hit = of_class && l.listed.BroadcastTo({n, c, c});
  l.is_target = Reshaped({b, b.ReduceOr(l.hit, {1})}, {n, 1, c});
  return l;
}
// z [N, K, C]: 1 - x[label k] + x[c] where that is positive, k is listed and c is no target.
Expr LabelMargins(const Samples& s, const Labels& l) {
  const int64_t n = s.count, c = s.classes;
  const Dims dims = {n, c, c};
  const Expr x = Reshaped(s.x, {n, 1, c});
  const Expr right = KeepSum(Select(l.hit, x.BroadcastTo(dims), 0.0), {2});
  const Expr z = x - right + 1.0;
  const Expr counts = l.listed.BroadcastTo(dims) && !l.is_target.BroadcastTo(dims) && (z > 0.0);
  return Select(counts, z, 0.0);
}

// (self, target, reduction) -> loss, is_target
Values LowerMultilabel(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const Expr x = Operand(args, 0, ComputeType(dtype));
  if (RefuseEmpty(args, x)) return {};
  const Samples s = AsSamples(x);
  const Labels l = ReadLabels(args, s, 1);
  const Expr sum = {b, b.ReduceSum(LabelMargins(s, l), {1, 2})};
  const Expr loss = sum / static_cast<double>(s.classes);
  const Dims target_dims = args.tensor(1).shape().dims;
  return {Reduced(loss, s, args.integer(2)).As(dtype),
          Reshaped(l.is_target.As(dtype), target_dims)};
}
// (grad_output, self, target, reduction, is_target)
Values LowerMultilabelBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1);
  const DType compute = ComputeType(dtype);
  const Expr x = Operand(args, 1, compute);
  if (RefuseEmpty(args, x)) return {};
  const Samples s = AsSamples(x);
  const Labels l = ReadLabels(args, s, 2);
  const Expr violated = (LabelMargins(s, l) > 0.0).As(compute);
  const Expr others = {b, b.ReduceSum(violated, {1})};
  const Expr per_label = KeepSum(violated, {2});  // [N, K, 1]
  const Expr labels = {
      b, b.ReduceSum(Select(l.hit, per_label.BroadcastTo(violated.dims()), 0.0), {1})};
  const Expr grad = Incoming(Operand(args, 0, compute), s, args.integer(3));
  return {Reshaped((others - labels) * grad / static_cast<double>(s.classes), x.dims()).As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::multi_margin_loss", LowerMultiMargin},
    {"aten::multi_margin_loss_backward", LowerMultiMarginBackward},
    {"aten::multilabel_margin_loss_forward", LowerMultilabel},
    {"aten::multilabel_margin_loss_backward", LowerMultilabelBackward},
};

}  // namespace

constinit const std::span<const Row> kMarginLossRows = kRows;

}  // namespace neuron::lowering
