#include "lowering/cast.h"

#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {

Expr Cast(Expr x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (dtype == DType::kPred) return x != 0.0;
  if (IsComplex(x.dtype()) && !IsComplex(dtype)) return Cast(Real(x), dtype);
  if (IsFloating(x.dtype()) && IsInteger(dtype)) {
    if (ByteSize(dtype) < 4) return x.As(DType::kS32).As(dtype);
    if (ByteSize(x.dtype()) < 4) x = x.As(DType::kF32);
  }
  return x.As(dtype);
}

namespace {

using hlo::Builder;

Values LowerToCopy(Builder&, Args& args) {
  const Expr x = Tensor(args, 0);
  return {Cast(x, args.dtype(1).value_or(x.dtype()))};
}

Values LowerIdentity(Builder&, Args& args) { return {args.tensor(0)}; }

// self's shape and dtype, src's values.
Values LowerCopy(Builder&, Args& args) {
  const Expr self = Tensor(args, 0);
  return {Cast(Tensor(args, 1), self.dtype()).BroadcastTo(self.dims())};
}

constexpr uint32_t kE = kElementwise;
constexpr uint32_t kGraph = kElementwise | kGraphOnly;
constexpr Row kRows[] = {
    {"aten::_to_copy", LowerToCopy, Native::kReal32, kGraph},
    {"aten::clone", LowerIdentity, Native::kAny, kE},
    {"aten::copy", LowerCopy, Native::kReal32, kGraph},
    {"aten::lift_fresh_copy", LowerIdentity, Native::kAny, kGraph},
};

}  // namespace

constinit const std::span<const Row> kCastRows = kRows;

}  // namespace neuron::lowering
