#include "hlo/builder.h"

namespace neuron::hlo {

std::vector<Value> Builder::RngBitGenerator(Value state, const Shape& bits, int algorithm) {
  Attributes attributes;
  attributes.rng_algorithm = algorithm;
  const Shape shape = Shape::Tuple({state.shape(), bits});
  const Value both = Emit(Opcode::kRngBitGenerator, {state}, std::move(attributes), {}, &shape);
  return both.valid() ? Untuple(both) : std::vector<Value>(2);
}

Value Builder::CustomCall(std::string target, std::span<const Value> operands, const Shape& shape,
                          std::string backend_config) {
  Attributes attributes;
  attributes.custom_call_target = std::move(target);
  attributes.backend_config = std::move(backend_config);
  return Emit(Opcode::kCustomCall, {operands.begin(), operands.end()}, std::move(attributes), {},
              &shape);
}

Value Builder::Fft(Value x, int fft_type, const std::vector<int64_t>& fft_length) {
  Attributes attributes;
  attributes.fft_type = fft_type;
  attributes.fft_length = fft_length;
  return Emit(Opcode::kFft, {x}, std::move(attributes));
}

Value Builder::TriangularSolve(Value a, Value b, bool left_side, bool lower, bool unit_diagonal,
                               bool transpose_a) {
  Attributes attributes;
  attributes.left_side = left_side;
  attributes.lower = lower;
  attributes.unit_diagonal = unit_diagonal;
  attributes.transpose_a = transpose_a;
  return Emit(Opcode::kTriangularSolve, {a, b}, std::move(attributes));
}

Value Builder::Cholesky(Value a, bool lower) {
  Attributes attributes;
  attributes.lower = lower;
  return Emit(Opcode::kCholesky, {a}, std::move(attributes));
}

Value Builder::Tuple(std::span<const Value> values) {
  return Emit(Opcode::kTuple, {values.begin(), values.end()});
}

Value Builder::GetTupleElement(Value tuple, int64_t index) {
  Attributes attributes;
  attributes.tuple_index = index;
  return Emit(Opcode::kGetTupleElement, {tuple}, std::move(attributes));
}

std::vector<Value> Builder::Untuple(Value tuple) {
  std::vector<Value> values;
  for (size_t i = 0; i < tuple.shape().elements.size(); ++i)
    values.push_back(GetTupleElement(tuple, static_cast<int64_t>(i)));
  return values;
}

Value Builder::While(Computation* condition, Computation* body, Value init) {
  return Emit(Opcode::kWhile, {init}, {}, {condition, body});
}

Value Builder::Conditional(Value index_or_predicate, std::span<Computation* const> branches,
                           std::span<const Value> arguments) {
  std::vector<Value> operands = {index_or_predicate};
  operands.insert(operands.end(), arguments.begin(), arguments.end());
  return Emit(Opcode::kConditional, std::move(operands), {}, {branches.begin(), branches.end()});
}

Value Builder::Call(Computation* callee, std::span<const Value> operands) {
  return Emit(Opcode::kCall, {operands.begin(), operands.end()}, {}, {callee});
}

}  // namespace neuron::hlo
