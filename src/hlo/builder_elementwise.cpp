#include "hlo/builder.h"

namespace neuron::hlo {

Value Builder::Constant(Literal literal) {
  Attributes attributes;
  attributes.literal = std::move(literal);
  return Emit(Opcode::kConstant, {}, std::move(attributes));
}

Value Builder::Constant(DType dtype, double value) {
  return Constant(Literal::Scalar(dtype, value));
}
Value Builder::ConstantInt(DType dtype, int64_t value) {
  return Constant(Literal::Scalar(dtype, value));
}

Value Builder::Full(const Shape& shape, double value) {
  return Broadcast(Constant(shape.dtype, value), shape.dims, {});
}

Value Builder::Iota(const Shape& shape, int64_t dimension) {
  Attributes attributes;
  attributes.dimensions = {dimension};
  return Emit(Opcode::kIota, {}, std::move(attributes), {}, &shape);
}

Value Builder::Unary(Opcode opcode, Value x) { return Emit(opcode, {x}); }

Value Builder::Binary(Opcode opcode, Value a, Value b) {
  if (a.rank() == 0 && b.rank() != 0) a = Broadcast(a, b.shape().dims, {});
  if (b.rank() == 0 && a.rank() != 0) b = Broadcast(b, a.shape().dims, {});
  return Emit(opcode, {a, b});
}

Value Builder::Compare(Comparison comparison, Value a, Value b) {
  if (a.rank() == 0 && b.rank() != 0) a = Broadcast(a, b.shape().dims, {});
  if (b.rank() == 0 && a.rank() != 0) b = Broadcast(b, a.shape().dims, {});
  Attributes attributes;
  attributes.comparison = comparison;
  return Emit(Opcode::kCompare, {a, b}, std::move(attributes));
}

Value Builder::Select(Value predicate, Value on_true, Value on_false) {
  const std::vector<int64_t>& dims = predicate.rank() != 0 ? predicate.shape().dims
                                     : on_true.rank() != 0 ? on_true.shape().dims
                                                           : on_false.shape().dims;
  if (predicate.rank() == 0) predicate = Broadcast(predicate, dims, {});
  if (on_true.rank() == 0) on_true = Broadcast(on_true, dims, {});
  if (on_false.rank() == 0) on_false = Broadcast(on_false, dims, {});
  return Emit(Opcode::kSelect, {predicate, on_true, on_false});
}

Value Builder::Clamp(Value low, Value x, Value high) {
  if (low.rank() == 0) low = Broadcast(low, x.shape().dims, {});
  if (high.rank() == 0) high = Broadcast(high, x.shape().dims, {});
  return Emit(Opcode::kClamp, {low, x, high});
}

Value Builder::Convert(Value x, DType dtype) {
  if (x.valid() && x.dtype() == dtype) return x;
  Shape shape = x.shape();
  shape.dtype = dtype;
  return Emit(Opcode::kConvert, {x}, {}, {}, &shape);
}

Value Builder::BitcastConvert(Value x, DType dtype) {
  if (x.valid() && x.dtype() == dtype) return x;
  Shape shape = Shape::Array(dtype, x.shape().dims);
  const int64_t from = ByteSize(x.dtype()), to = ByteSize(dtype);
  if (from > to && to > 0) shape.dims.push_back(from / to);
  if (from < to && !shape.dims.empty()) shape.dims.pop_back();
  return Emit(Opcode::kBitcastConvert, {x}, {}, {}, &shape);
}

Value Builder::ReducePrecision(Value x, int exponent_bits, int mantissa_bits) {
  Attributes attributes;
  attributes.exponent_bits = exponent_bits;
  attributes.mantissa_bits = mantissa_bits;
  return Emit(Opcode::kReducePrecision, {x}, std::move(attributes));
}

Value Builder::Complex(Value real, Value imag) { return Emit(Opcode::kComplex, {real, imag}); }

}  // namespace neuron::hlo
