// Collectives: what one replica holds before and after.
#include <algorithm>

#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

// Replicas that work together; nothing if the module leaves it to the runtime.
StatusOr<std::optional<int64_t>> GroupSize(const ShapeQuery& q) {
  const auto& groups = q.attributes.groups;
  if (groups.empty()) return std::optional<int64_t>();
  for (const auto& group : groups)
    if (group.empty() || group.size() != groups[0].size())
      return ShapeError(q, "its groups must have one size, got ", ListText(groups[0]), " and ",
                        ListText(group));
  return std::optional<int64_t>(static_cast<int64_t>(groups[0].size()));
}

Status CheckPairs(const ShapeQuery& q) {
  std::vector<int64_t> sources, targets;
  for (const auto& pair : q.attributes.groups) {
    if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0)
      return ShapeError(q, "needs pairs of source and target, got ", ListText(pair));
    if (std::ranges::find(sources, pair[0]) != sources.end() ||
        std::ranges::find(targets, pair[1]) != targets.end())
      return ShapeError(q, "source or target of ", ListText(pair), " stands in two pairs");
    sources.push_back(pair[0]);
    targets.push_back(pair[1]);
  }
  return OkStatus();
}

Shape OneOrTuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}
Shape OperandsOf(const ShapeQuery& q) { return OneOrTuple({q.operands.begin(), q.operands.end()}); }

StatusOr<int64_t> OneDimension(const ShapeQuery& q) {
  const auto& dimensions = q.attributes.dimensions;
  for (const Shape& operand : q.operands)
    if (!operand.is_array() || dimensions.size() != 1 ||
        !AreDistinctDimensions(dimensions, operand.rank()))
      return ShapeError(q, "dimension ", ListText(dimensions), " is no dimension of ",
                        operand.ToString());
  return dimensions[0];
}

// Each operand with its dimension multiplied (divided) by the size of a group: as stated if that is
// not known.
StatusOr<Shape> Resized(const ShapeQuery& q, bool grows, const Shape* stated) {
  NEURON_ASSIGN_OR_RETURN(const int64_t d, OneDimension(q));
  NEURON_ASSIGN_OR_RETURN(const std::optional<int64_t> size, GroupSize(q));
  std::vector<Shape> shapes;
  for (size_t i = 0; i < q.operands.size(); ++i) {
    Shape shape = q.operand(i);
    int64_t& extent = shape.dims[static_cast<size_t>(d)];
    if (size) {
      if (!grows && extent % *size != 0)
        return ShapeError(q, "dimension ", d, " does not part into ", *size, " pieces");
      extent = grows ? extent * *size : extent / *size;
    } else {
      if (stated == nullptr) return ShapeError(q, "its shape must be stated");
      const bool tuple = stated->is_tuple() && i < stated->elements.size();
      const Shape& said = q.operands.size() > 1 && tuple ? stated->elements[i] : *stated;
      if (said.is_array() && said.rank() == shape.rank())
        extent = said.dims[static_cast<size_t>(d)];
    }
    shapes.push_back(std::move(shape));
  }
  return OneOrTuple(std::move(shapes));
}

// What a start holds until its done: (operand, result, ...).
StatusOr<Shape> StartedResult(const ShapeQuery& q, const Shape& start) {
  if (!start.is_tuple() || start.elements.size() < 2)
    return ShapeError(q, "expected (operand, result, ...), got ", start.ToString());
  return start.elements[1];
}

}  // namespace

StatusOr<Shape> InferCollectiveShape(const ShapeQuery& q) {
  if (q.operands.empty()) return ShapeError(q, "needs operands");
  switch (q.opcode) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      if (q.called.size() != 1) return ShapeError(q, "needs one combiner");
      NEURON_RETURN_IF_ERROR(CheckArrays(q));
      NEURON_RETURN_IF_ERROR(GroupSize(q).status());
      return OperandsOf(q);
    case Opcode::kCollectiveBroadcast:
      return OperandsOf(q);
    case Opcode::kAllGather:
      return Resized(q, true, q.stated);
    case Opcode::kReduceScatter:
      if (q.called.size() != 1) return ShapeError(q, "needs one combiner");
      return Resized(q, false, q.stated);
    case Opcode::kAllToAll: {
      NEURON_RETURN_IF_ERROR(CheckArrays(q));
      NEURON_ASSIGN_OR_RETURN(const std::optional<int64_t> size, GroupSize(q));
      if (q.attributes.dimensions.empty()) {  // an operand for each replica, a result of each
        if (size && *size != static_cast<int64_t>(q.operands.size()))
          return ShapeError(q, "groups of ", *size, " replicas take as many operands");
        const bool tuple = q.stated != nullptr && q.stated->is_tuple();
        return tuple ? Shape::Tuple({q.operands.begin(), q.operands.end()}) : OperandsOf(q);
      }
      NEURON_ASSIGN_OR_RETURN(const int64_t d, OneDimension(q));
      if (size && q.operand(0).dims[static_cast<size_t>(d)] % *size != 0)
        return ShapeError(q, "dimension ", d, " does not part into ", *size, " pieces");
      return OperandsOf(q);
    }
    case Opcode::kCollectivePermute:
      NEURON_RETURN_IF_ERROR(CheckPairs(q));
      return OperandsOf(q);
    case Opcode::kAllGatherStart: {
      if (q.stated == nullptr || !q.stated->is_tuple() || q.stated->elements.size() != 2)
        return ShapeError(q, "its shape must be (operand, result)");
      NEURON_ASSIGN_OR_RETURN(Shape result, Resized(q, true, &q.stated->elements[1]));
      return Shape::Tuple({OperandsOf(q), std::move(result)});
    }
    case Opcode::kCollectivePermuteStart: {
      NEURON_RETURN_IF_ERROR(CheckPairs(q));
      if (q.stated == nullptr || !q.stated->is_tuple() || q.stated->elements.size() < 2)
        return ShapeError(q, "its shape must be (operand, result, ...)");
      Shape started = *q.stated;  // what follows is the scheduler's
      started.elements[0] = started.elements[1] = OperandsOf(q);
      return started;
    }
    case Opcode::kAllReduceDone:
      return q.operand(0);
    default:
      return StartedResult(q, q.operand(0));
  }
}

}  // namespace neuron::hlo
