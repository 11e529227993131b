// Formulas over HLO values: `x * Logistic(x)` instead of b.Multiply(x, b.Logistic(x)).
//
// An Expr is a value and its builder. Operands broadcast by NumPy's rule; a C++ number becomes a
// constant of the other operand's dtype. Dtypes must agree: convert first.
#pragma once

#include <span>
#include <vector>

#include "hlo/builder.h"

namespace neuron::lowering {

class Expr {
 public:
  Expr() = default;
  Expr(hlo::Builder& b, hlo::Value value) : builder_(&b), value_(value) {}
  operator hlo::Value() const { return value_; }  // NOLINT(google-explicit-constructor)

  hlo::Builder& builder() const { return *builder_; }
  hlo::Value value() const { return value_; }
  bool valid() const { return value_.valid(); }
  DType dtype() const { return value_.dtype(); }
  int64_t rank() const { return value_.rank(); }
  const std::vector<int64_t>& dims() const { return value_.shape().dims; }
  int64_t num_elements() const { return value_.shape().num_elements(); }
  Expr As(DType dtype) const { return {*builder_, builder_->Convert(value_, dtype)}; }
  Expr BroadcastTo(const std::vector<int64_t>& dims) const;
  Expr Like(double value) const;  // a scalar constant of this dtype
  Expr LikeInt(int64_t value) const;

 private:
  hlo::Builder* builder_ = nullptr;
  hlo::Value value_;
};

// The shape that all of `values` broadcast to.
std::vector<int64_t> BroadcastDims(std::span<const Expr> values);

Expr Apply(hlo::Opcode opcode, Expr x);
Expr Apply(hlo::Opcode opcode, Expr a, Expr b);
Expr Compare(hlo::Comparison comparison, Expr a, Expr b);
Expr Select(Expr predicate, Expr on_true, Expr on_false);
inline Expr Select(Expr predicate, double on_true, Expr on_false) {
  return Select(predicate, on_false.Like(on_true), on_false);
}
inline Expr Select(Expr predicate, Expr on_true, double on_false) {
  return Select(predicate, on_true, on_true.Like(on_false));
}

#define NEURON_EXPR_UNARY(V) \
  V(Abs)                     \
  V(Cbrt)                    \
  V(Ceil)                    \
  V(Cos)                     \
  V(Erf)                     \
  V(Exp)                     \
  V(Expm1)                   \
  V(Floor)                   \
  V(Imag)                    \
  V(IsFinite)                \
  V(Log)                     \
  V(Log1p)                   \
  V(Logistic)                \
  V(Real)                    \
  V(RoundNearestEven)        \
  V(Rsqrt)                   \
  V(Sign)                    \
  V(Sin)                     \
  V(Sqrt)                    \
  V(Tan)                     \
  V(Tanh)
#define V(name) \
  inline Expr name(Expr x) { return Apply(hlo::Opcode::k##name, x); }
NEURON_EXPR_UNARY(V)
#undef V
inline Expr operator-(Expr x) { return Apply(hlo::Opcode::kNegate, x); }
inline Expr operator!(Expr x) { return Apply(hlo::Opcode::kNot, x); }

// A binary form over two expressions and the two with a number.
#define NEURON_EXPR_BINARY(V) \
  V(operator+, kAdd)          \
  V(operator-, kSubtract)     \
  V(operator*, kMultiply)     \
  V(operator/, kDivide)       \
  V(Maximum, kMaximum)        \
  V(Minimum, kMinimum)        \
  V(Power, kPower)            \
  V(Remainder, kRemainder)    \
  V(Atan2, kAtan2)
#define V(name, opcode)                                                                   \
  inline Expr name(Expr a, Expr b) { return Apply(hlo::Opcode::opcode, a, b); }           \
  inline Expr name(Expr a, double b) { return Apply(hlo::Opcode::opcode, a, a.Like(b)); } \
  inline Expr name(double a, Expr b) { return Apply(hlo::Opcode::opcode, b.Like(a), b); }
NEURON_EXPR_BINARY(V)
#undef V
inline Expr operator&&(Expr a, Expr b) { return Apply(hlo::Opcode::kAnd, a, b); }
inline Expr operator||(Expr a, Expr b) { return Apply(hlo::Opcode::kOr, a, b); }
inline Expr operator^(Expr a, Expr b) { return Apply(hlo::Opcode::kXor, a, b); }

#define NEURON_EXPR_COMPARE(V) \
  V(operator==, kEq)           \
  V(operator!=, kNe)           \
  V(operator<, kLt)            \
  V(operator<=, kLe)           \
  V(operator>, kGt)            \
  V(operator>=, kGe)
#define V(name, comparison)                                                               \
  inline Expr name(Expr a, Expr b) { return Compare(hlo::Comparison::comparison, a, b); } \
  inline Expr name(Expr a, double b) { return Compare(hlo::Comparison::comparison, a, a.Like(b)); }
NEURON_EXPR_COMPARE(V)
#undef V
inline Expr IsNan(Expr x) { return x != x; }

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
Expr Polynomial(Expr x, std::span<const double> c);
// Reductions over dimensions that stay with extent 1, so that the result broadcasts back.
Expr KeepSum(Expr x, const std::vector<int64_t>& dimensions);
Expr KeepMax(Expr x, const std::vector<int64_t>& dimensions);
Expr KeepMin(Expr x, const std::vector<int64_t>& dimensions);

}  // namespace neuron::lowering
