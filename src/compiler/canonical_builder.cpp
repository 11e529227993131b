#include "compiler/canonical_builder.h"

#include <functional>

namespace neuron::compiler {

using hlo::Attributes;
using hlo::Instruction;
using hlo::Opcode;

bool OwnsBuffer(const Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kGetTupleElement:
      return false;
    default:
      return true;
  }
}

Instruction* CanonicalBuilder::Emit(Opcode opcode, const hlo::Shape& shape,
                                    std::vector<Instruction*> operands, Attributes attributes,
                                    std::vector<hlo::Computation*> called) {
  size_t hash = static_cast<size_t>(opcode) * 0x9e3779b97f4a7c15u;
  for (const Instruction* operand : operands)
    hash = (hash ^ static_cast<size_t>(operand->id())) * 0x100000001b3u;
  for (int64_t d : shape.dims) hash = (hash ^ static_cast<size_t>(d)) * 0x100000001b3u;
  hash = (hash ^ static_cast<size_t>(shape.dtype)) * 0x100000001b3u;
  if (opcode == Opcode::kConstant) hash ^= std::hash<std::string>()(attributes.literal.bytes());
  for (int64_t d : attributes.slice_starts) hash = (hash ^ static_cast<size_t>(d)) * 31;
  auto& bucket = added_[hash];
  for (Instruction* have : bucket)
    if (have->opcode() == opcode && have->shape() == shape && have->operands() == operands &&
        have->called() == called && have->attributes() == attributes)
      return have;
  Instruction* added =
      entry_.Add(opcode, shape, std::move(operands), std::move(attributes), std::move(called));
  if (metadata_ != nullptr && !metadata_->empty()) entry_.SetMetadata(added, *metadata_);
  bucket.push_back(added);
  return added;
}

Instruction* CanonicalBuilder::Zeros(const hlo::Shape& shape) {
  Attributes zero;
  zero.literal = hlo::Literal::Scalar(shape.dtype, int64_t{0});
  Instruction* none = Emit(Opcode::kConstant, zero.literal.shape(), {}, zero);
  return shape.is_scalar() ? none : Emit(Opcode::kBroadcast, shape, {none});
}

Instruction* CanonicalBuilder::Placed(Instruction* operand) {
  const Instruction* base = operand;
  while (!OwnsBuffer(*base) && !base->operands().empty()) base = base->operand(0);
  if (base->opcode() != Opcode::kIota) return operand;
  return Emit(Opcode::kCopy, operand->shape(), {operand});
}

}  // namespace neuron::compiler
