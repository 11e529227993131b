#include "lowering/expr.h"

namespace neuron::lowering {
namespace {

Expr Keep(Expr x, hlo::Value reduced, const std::vector<int64_t>& dimensions) {
  if (!reduced.valid()) return {x.builder(), reduced};  // refused: the builder knows why
  std::vector<int64_t> dims = x.dims();
  for (const int64_t d : dimensions) dims[static_cast<size_t>(d)] = 1;
  return {x.builder(), x.builder().Reshape(reduced, dims)};
}

// Stretches both to one shape; a rank-0 operand stays, the builder takes it as it is.
void Align(Expr& a, Expr& b) {
  if (a.dims() == b.dims() || a.rank() == 0 || b.rank() == 0) return;
  const Expr both[] = {a, b};
  const std::vector<int64_t> dims = BroadcastDims(both);
  a = a.BroadcastTo(dims);
  b = b.BroadcastTo(dims);
}

}  // namespace

Expr Expr::BroadcastTo(const std::vector<int64_t>& dims) const {
  if (value_.shape().dims == dims) return *this;
  return {*builder_, builder_->BroadcastTo(value_, dims)};
}

Expr Expr::Like(double value) const { return {*builder_, builder_->Constant(dtype(), value)}; }
Expr Expr::LikeInt(int64_t value) const {
  return {*builder_, builder_->ConstantInt(dtype(), value)};
}

std::vector<int64_t> BroadcastDims(std::span<const Expr> values) {
  std::vector<int64_t> dims;
  for (const Expr& x : values) {
    const std::vector<int64_t>& own = x.dims();
    if (own.size() > dims.size()) dims.insert(dims.begin(), own.size() - dims.size(), 1);
    for (size_t i = 0; i < own.size(); ++i) {
      int64_t& extent = dims[dims.size() - own.size() + i];
      if (extent == 1) extent = own[i];
    }
  }
  return dims;
}

Expr Apply(hlo::Opcode opcode, Expr x) { return {x.builder(), x.builder().Unary(opcode, x)}; }

Expr Apply(hlo::Opcode opcode, Expr a, Expr b) {
  Align(a, b);
  return {a.builder(), a.builder().Binary(opcode, a, b)};
}

Expr Compare(hlo::Comparison comparison, Expr a, Expr b) {
  Align(a, b);
  return {a.builder(), a.builder().Compare(comparison, a, b)};
}

Expr Select(Expr predicate, Expr on_true, Expr on_false) {
  const Expr all[] = {predicate, on_true, on_false};
  const std::vector<int64_t> dims = BroadcastDims(all);
  return {predicate.builder(),
          predicate.builder().Select(predicate.BroadcastTo(dims), on_true.BroadcastTo(dims),
                                     on_false.BroadcastTo(dims))};
}

Expr Polynomial(Expr x, std::span<const double> c) {
  Expr y = x.Like(c.back()).BroadcastTo(x.dims());
  for (size_t i = c.size() - 1; i-- > 0;) y = y * x + c[i];
  return y;
}

Expr KeepSum(Expr x, const std::vector<int64_t>& dimensions) {
  return Keep(x, x.builder().ReduceSum(x, dimensions), dimensions);
}
Expr KeepMax(Expr x, const std::vector<int64_t>& dimensions) {
  return Keep(x, x.builder().ReduceMax(x, dimensions), dimensions);
}
Expr KeepMin(Expr x, const std::vector<int64_t>& dimensions) {
  return Keep(x, x.builder().ReduceMin(x, dimensions), dimensions);
}

}  // namespace neuron::lowering
