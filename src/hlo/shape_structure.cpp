// Tuples, control flow, calls, and ops that keep their operand's shape.
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

StatusOr<Shape> InferGetTupleElement(const ShapeQuery& q) {
  const Shape& tuple = q.operand(0);
  const int64_t index = q.attributes.tuple_index;
  if (!tuple.is_tuple() || index < 0 || index >= static_cast<int64_t>(tuple.elements.size()))
    return ShapeError(q, "the operand has no element ", index);
  return tuple.elements[static_cast<size_t>(index)];
}

StatusOr<Shape> InferWhile(const ShapeQuery& q) {
  if (q.called.size() != 2) return ShapeError(q, "needs a condition and a body");
  const Shape& state = q.operand(0);
  NEURON_ASSIGN_OR_RETURN(const Shape more, CheckCallee(q, q.called[0], q.operands));
  if (more != Shape::Array(DType::kPred, {}))
    return ShapeError(q, "the condition must return pred[], returns ", more.ToString());
  NEURON_ASSIGN_OR_RETURN(const Shape next, CheckCallee(q, q.called[1], q.operands));
  if (next != state)
    return ShapeError(q, "the body must return ", state.ToString(), ", returns ", next.ToString());
  return state;
}

StatusOr<Shape> InferConditional(const ShapeQuery& q) {
  const size_t branches = q.called.size();
  if (branches == 0 || q.operands.size() != branches + 1)
    return ShapeError(q, "needs an index and one argument for each of ", branches, " branches");
  const Shape& index = q.operand(0);
  const bool predicated = index == Shape::Array(DType::kPred, {}) && branches == 2;
  if (!predicated && index != Shape::Array(DType::kS32, {}))
    return ShapeError(q, "the index must be s32[], or pred[] with two branches");
  NEURON_ASSIGN_OR_RETURN(Shape result, CheckCallee(q, q.called[0], q.operands.subspan(1, 1)));
  for (size_t i = 1; i < branches; ++i) {
    NEURON_ASSIGN_OR_RETURN(const Shape other,
                            CheckCallee(q, q.called[i], q.operands.subspan(i + 1, 1)));
    if (other != result)
      return ShapeError(q, "branch 0 returns ", result.ToString(), ", branch ", i, " ",
                        other.ToString());
  }
  return result;
}

StatusOr<Shape> InferCall(const ShapeQuery& q) {
  if (q.called.size() != 1) return ShapeError(q, "needs one computation to call");
  return CheckCallee(q, q.called[0], q.operands);
}

StatusOr<Shape> InferRngBitGenerator(const ShapeQuery& q) {
  const Shape& state = q.operand(0);
  if (state.rank() != 1 || (state.dtype != DType::kU64 && state.dtype != DType::kU32))
    return ShapeError(q, "the state must be u64[n] or u32[n]");
  const Shape* stated = q.stated;
  if (stated == nullptr || !stated->is_tuple() || stated->elements.size() != 2 ||
      stated->elements[0] != state || !stated->elements[1].is_array())
    return ShapeError(q, "the stated shape must be (state, bits)");
  return *stated;
}

}  // namespace

StatusOr<Shape> InferStructureShape(const ShapeQuery& q) {
  switch (q.opcode) {
    case Opcode::kTuple:
      return Shape::Tuple({q.operands.begin(), q.operands.end()});
    case Opcode::kGetTupleElement:
      return InferGetTupleElement(q);
    case Opcode::kWhile:
      return InferWhile(q);
    case Opcode::kConditional:
      return InferConditional(q);
    case Opcode::kCall:
    case Opcode::kFusion:
      return InferCall(q);
    case Opcode::kRngBitGenerator:
      return InferRngBitGenerator(q);
    case Opcode::kOptimizationBarrier:
      return q.operand(0);
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      return Shape::Array(DType::kU32, {});
    default:
      return ShapeError(q, "has no shape rule");
  }
}

}  // namespace neuron::hlo
