#include "compiler/stored_value.h"

namespace neuron::compiler {

using hlo::Instruction;
using hlo::Opcode;

namespace {

// x: reshapes over an update, at constant zeros, of the parameter (reshaped, or first padded at
// its end), whose elements from `length` on are padding that the update does not touch.
bool IsUpdateInPlace(const Instruction* x, const Instruction* parameter, int64_t length) {
  while (x->opcode() == Opcode::kReshape) x = x->operand(0);
  if (x->opcode() != Opcode::kDynamicUpdateSlice) return false;
  if (length != parameter->shape().num_elements() || parameter->shape().rank() > 1) return false;
  for (size_t i = 2; i < x->operands().size(); ++i) {
    const Instruction* start = x->operand(static_cast<int64_t>(i));
    if (start->opcode() != Opcode::kConstant || start->attributes().literal.AsInt64() != 0)
      return false;
  }
  const Dims strides = DenseStrides(x->shape().dims);
  int64_t last = 0;
  for (size_t d = 0; d < strides.size(); ++d)
    last += (x->operand(1)->shape().dims[d] - 1) * strides[d];
  if (last >= length) return false;
  const Instruction* from = x->operand(0);
  while (from->opcode() == Opcode::kReshape) from = from->operand(0);
  if (from->opcode() == Opcode::kPad) {
    const auto& padding = from->attributes().padding;
    if (padding.size() != 1 || padding[0].low != 0 || padding[0].interior != 0) return false;
    from = from->operand(0);
    while (from->opcode() == Opcode::kReshape) from = from->operand(0);
  }
  return from == parameter;
}

}  // namespace

Instruction* StoredValue(Instruction* x, const Instruction* aliased, View& place) {
  while (true) {
    Instruction* y = x->operands().empty() ? nullptr : x->operand(0);
    View next = place;
    switch (x->opcode()) {
      case Opcode::kReshape: {
        auto strides = ReshapeStrides(place.sizes, place.strides, y->shape().dims);
        if (!strides) return x;
        next.sizes = y->shape().dims;
        next.strides = *std::move(strides);
        break;
      }
      case Opcode::kTranspose:
        for (size_t i = 0; i < place.sizes.size(); ++i) {
          const auto d = static_cast<size_t>(x->attributes().dimensions[i]);
          next.sizes[d] = place.sizes[i];
          next.strides[d] = place.strides[i];
        }
        break;
      case Opcode::kReverse:
        for (int64_t i : x->attributes().dimensions) {
          const auto d = static_cast<size_t>(i);
          next.offset += (next.sizes[d] - 1) * next.strides[d];
          next.strides[d] = -next.strides[d];
        }
        break;
      case Opcode::kSlice:
        // The tail of a padded flat parameter (see below): what is dropped was never written.
        if (aliased == nullptr || !IsUpdateInPlace(y, aliased, x->shape().num_elements())) return x;
        next.sizes = y->shape().dims;
        break;
      case Opcode::kDynamicUpdateSlice: {
        if (aliased == nullptr || !IsUpdateInPlace(x, aliased, aliased->shape().num_elements()))
          return x;
        y = x->operand(1);
        next.sizes = y->shape().dims;
        place = std::move(next);
        x = y;
        aliased = nullptr;
        continue;
      }
      default:
        return x;
    }
    place = std::move(next);
    x = y;
  }
}

}  // namespace neuron::compiler
