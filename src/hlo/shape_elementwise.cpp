// Elementwise ops: operands of equal extents; what differs is which dtypes each op takes.
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

// Classes of element types, as bits.
enum Kinds : uint8_t { kPred = 1, kInteger = 2, kFloating = 4, kComplex = 8, kAny = 15 };
constexpr uint8_t kNumber = kInteger | kFloating | kComplex;

uint8_t KindOf(DType dtype) {
  if (dtype == DType::kPred) return kPred;
  if (IsInteger(dtype)) return kInteger;
  if (IsFloating(dtype)) return kFloating;
  return IsComplex(dtype) ? kComplex : 0;
}

struct Rule {
  uint8_t kinds;
  const char* words;
};
Rule RuleOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCeil:
    case Opcode::kErf:
    case Opcode::kFloor:
    case Opcode::kIsFinite:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
      return {kFloating, "floating"};
    case Opcode::kCbrt:
    case Opcode::kCos:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kAtan2:
      return {kFloating | kComplex, "floating or complex"};
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kSign:
    case Opcode::kSubtract:
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kPower:
      return {kNumber, "a number, not pred"};
    case Opcode::kClz:
    case Opcode::kPopcnt:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return {kInteger, "an integer"};
    case Opcode::kAnd:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kXor:
      return {kPred | kInteger, "pred or an integer"};
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kClamp:
      return {kPred | kInteger | kFloating, "ordered (not complex)"};
    default:
      return {kAny, "an element type"};
  }
}

Status CheckRule(const ShapeQuery& q, const Shape& shape) {
  const Rule rule = RuleOf(q.opcode);
  if ((KindOf(shape.dtype) & rule.kinds) == 0)
    return ShapeError(q, "the element type must be ", rule.words, ", got ", DTypeName(shape.dtype));
  return OkStatus();
}

DType RealOf(DType dtype) {
  if (dtype == DType::kC64) return DType::kF32;
  return dtype == DType::kC128 ? DType::kF64 : dtype;
}

Shape WithDType(const Shape& shape, DType dtype) {
  Shape result = shape;
  result.dtype = dtype;
  return result;
}

// Bounded dynamic extents of either operand are dynamic in the result.
Shape MergeDynamic(Shape a, const Shape& b) {
  if (a.dynamic.empty()) a.dynamic = b.dynamic;
  for (size_t i = 0; i < b.dynamic.size(); ++i) a.dynamic[i] = a.dynamic[i] || b.dynamic[i];
  return a;
}

Status CheckSame(const ShapeQuery& q, const Shape& a, const Shape& b) {
  if (a.dtype != b.dtype)
    return ShapeError(q, "element types differ, ", DTypeName(a.dtype), " and ", DTypeName(b.dtype),
                      "; convert one");
  if (!SameDims(a, b))
    return ShapeError(q, "extents differ, ", a.ToString(), " and ", b.ToString(),
                      "; broadcast one");
  return OkStatus();
}

StatusOr<Shape> InferUnary(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  NEURON_RETURN_IF_ERROR(CheckRule(q, x));
  if (q.opcode == Opcode::kAbs) return WithDType(x, RealOf(x.dtype));
  if (q.opcode == Opcode::kIsFinite) return WithDType(x, DType::kPred);
  if (q.opcode == Opcode::kReducePrecision &&
      (q.attributes.exponent_bits < 1 || q.attributes.mantissa_bits < 0))
    return ShapeError(q, "needs at least 1 exponent bit and 0 mantissa bits, got ",
                      q.attributes.exponent_bits, " and ", q.attributes.mantissa_bits);
  return x;
}

StatusOr<Shape> InferBinary(const ShapeQuery& q) {
  const Shape& a = q.operand(0);
  const Shape& b = q.operand(1);
  NEURON_RETURN_IF_ERROR(CheckSame(q, a, b));
  NEURON_RETURN_IF_ERROR(CheckRule(q, a));
  return MergeDynamic(a, b);
}

StatusOr<Shape> InferCompare(const ShapeQuery& q) {
  const Shape& a = q.operand(0);
  NEURON_RETURN_IF_ERROR(CheckSame(q, a, q.operand(1)));
  const Comparison comparison = q.attributes.comparison;
  if (IsComplex(a.dtype) && comparison != Comparison::kEq && comparison != Comparison::kNe)
    return ShapeError(q, "complex numbers have no order; only EQ and NE compare them");
  return WithDType(MergeDynamic(a, q.operand(1)), DType::kPred);
}

StatusOr<Shape> InferSelect(const ShapeQuery& q) {
  const Shape& predicate = q.operand(0);
  NEURON_RETURN_IF_ERROR(CheckSame(q, q.operand(1), q.operand(2)));
  if (predicate.dtype != DType::kPred)
    return ShapeError(q, "the first operand must be pred, got ", DTypeName(predicate.dtype));
  if (!predicate.is_scalar() && !SameDims(predicate, q.operand(1)))
    return ShapeError(q, "the predicate must be a scalar or have the extents of the choices");
  return MergeDynamic(q.operand(1), q.operand(2));
}

StatusOr<Shape> InferClamp(const ShapeQuery& q) {
  const Shape& x = q.operand(1);
  NEURON_RETURN_IF_ERROR(CheckRule(q, x));
  for (const size_t bound : {0u, 2u}) {
    if (q.operand(bound).is_scalar() && q.operand(bound).dtype == x.dtype) continue;
    NEURON_RETURN_IF_ERROR(CheckSame(q, q.operand(bound), x));
  }
  return x;
}

}  // namespace

StatusOr<Shape> InferElementwiseShape(const ShapeQuery& q) {
  if (q.opcode == Opcode::kCopy) return q.operand(0);  // copies tuples and tokens too
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  switch (q.opcode) {
    case Opcode::kCompare:
      return InferCompare(q);
    case Opcode::kSelect:
      return InferSelect(q);
    case Opcode::kClamp:
      return InferClamp(q);
    default:
      return q.operands.size() == 1 ? InferUnary(q) : InferBinary(q);
  }
}

StatusOr<Shape> InferConversionShape(const ShapeQuery& q) {
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  const Shape& x = q.operand(0);
  if (q.opcode == Opcode::kComplex) {
    NEURON_RETURN_IF_ERROR(CheckSame(q, x, q.operand(1)));
    if (x.dtype == DType::kF32) return WithDType(x, DType::kC64);
    if (x.dtype == DType::kF64) return WithDType(x, DType::kC128);
    return ShapeError(q, "real and imaginary part must be f32 or f64");
  }
  if (q.opcode == Opcode::kReal || q.opcode == Opcode::kImag) {
    if (!IsComplex(x.dtype) && !IsFloating(x.dtype))
      return ShapeError(q, "the element type must be floating or complex");
    return WithDType(x, RealOf(x.dtype));
  }
  if (q.stated == nullptr || !q.stated->is_array())
    return ShapeError(q, "the resulting array shape must be stated");
  const Shape& to = *q.stated;
  if (q.opcode == Opcode::kConvert) {
    if (!SameDims(x, to)) return ShapeError(q, "cannot change extents to ", to.ToString());
    if (IsComplex(x.dtype) && !IsComplex(to.dtype))
      return ShapeError(q, "complex does not convert to ", DTypeName(to.dtype),
                        "; take the real part");
    return to;
  }
  // bitcast-convert: a wider type takes the last dimension up, a narrower one adds it.
  const int64_t from_bytes = ByteSize(x.dtype), to_bytes = ByteSize(to.dtype);
  std::vector<int64_t> dims = x.dims;
  if (from_bytes > to_bytes && to_bytes > 0) dims.push_back(from_bytes / to_bytes);
  if (from_bytes < to_bytes) {
    if (dims.empty() || dims.back() * from_bytes != to_bytes)
      return ShapeError(q, "the last dimension does not make up one ", DTypeName(to.dtype));
    dims.pop_back();
  }
  if (IsComplex(x.dtype) != IsComplex(to.dtype))
    return ShapeError(q, "no bitcast between complex and ", DTypeName(to.dtype));
  if (dims != to.dims)
    return ShapeError(q, "expected extents ", ListText(dims), ", stated ", to.ToString());
  return to;
}

}  // namespace neuron::hlo
