#include "hlo/shape_inference.h"

#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

// Shapes that only the caller knows. What can be checked against the operands is, elsewhere.
StatusOr<Shape> Stated(const ShapeQuery& q) {
  if (q.stated == nullptr) return ShapeError(q, "its shape must be stated");
  return *q.stated;
}

StatusOr<Shape> InferIota(const ShapeQuery& q) {
  if (q.stated == nullptr) return ShapeError(q, "its shape must be stated");
  const std::vector<int64_t>& dimension = q.attributes.dimensions;
  if (!q.stated->is_array() || dimension.size() != 1 ||
      !AreDistinctDimensions(dimension, q.stated->rank()))
    return ShapeError(q, "dimension ", ListText(dimension), " is no dimension of ",
                      q.stated->ToString());
  if (q.stated->dtype == DType::kPred) return ShapeError(q, "iota cannot count in pred");
  return *q.stated;
}

StatusOr<Shape> InferConstant(const ShapeQuery& q) {
  const Shape& shape = q.attributes.literal.shape();
  if (shape.dtype == DType::kInvalid) return ShapeError(q, "it has no literal");
  if (q.stated != nullptr && *q.stated != shape)
    return ShapeError(q, "its literal is ", shape.ToString(), ", its shape ", q.stated->ToString());
  return shape;
}

StatusOr<Shape> Dispatch(const ShapeQuery& q) {
  if (IsElementwise(q.opcode) && q.opcode != Opcode::kConvert && q.opcode != Opcode::kComplex &&
      q.opcode != Opcode::kReal && q.opcode != Opcode::kImag)
    return InferElementwiseShape(q);
  switch (q.opcode) {
    case Opcode::kParameter:
    case Opcode::kCustomCall:
    case Opcode::kRng:
    case Opcode::kDynamicReshape:
      return Stated(q);
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllReduceDone:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kReduceScatter:
      return InferCollectiveShape(q);
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return InferBatchNormShape(q);
    case Opcode::kConstant:
      return InferConstant(q);
    case Opcode::kIota:
      return InferIota(q);
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kComplex:
    case Opcode::kReal:
    case Opcode::kImag:
      return InferConversionShape(q);
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kConcatenate:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
      return InferMovementShape(q);
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kScatter:
      return InferIndexingShape(q);
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kMap:
      return InferReductionShape(q);
    case Opcode::kDot:
    case Opcode::kConvolution:
      return InferContractionShape(q);
    case Opcode::kFft:
    case Opcode::kTriangularSolve:
    case Opcode::kCholesky:
      return InferLinalgShape(q);
    default:
      return InferStructureShape(q);
  }
}

}  // namespace

StatusOr<Shape> InferShape(Opcode opcode, std::span<const Shape> operands,
                           const Attributes& attributes, std::span<Computation* const> called,
                           const Shape* stated) {
  const ShapeQuery q{opcode, operands, attributes, called, stated};
  const int arity = OpcodeArity(opcode);
  if (arity >= 0 && operands.size() != static_cast<size_t>(arity))
    return ShapeError(q, "takes ", arity, " operands, got ", operands.size());
  return Dispatch(q);
}

std::string ListText(const std::vector<int64_t>& values) {
  std::string text = "{";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text + "}";
}

bool SameDims(const Shape& a, const Shape& b) { return a.dims == b.dims; }

bool AreDistinctDimensions(const std::vector<int64_t>& dimensions, int64_t rank) {
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (const int64_t d : dimensions) {
    if (d < 0 || d >= rank || seen[static_cast<size_t>(d)]) return false;
    seen[static_cast<size_t>(d)] = true;
  }
  return true;
}

Status CheckArrays(const ShapeQuery& q) {
  for (const Shape& operand : q.operands)
    if (!operand.is_array()) return ShapeError(q, "expected arrays, got ", operand.ToString());
  return OkStatus();
}

std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<int64_t> CheckedElements(const std::vector<int64_t>& dims) {
  // A zero extent makes the product small whatever the others are; so they must be judged alone.
  int64_t product = 1;
  bool zero = false;
  for (const int64_t d : dims) {
    if (d < 0) return std::nullopt;
    zero |= d == 0;
    const auto next = CheckedMultiply(product, d == 0 ? 1 : d);
    if (!next) return std::nullopt;
    product = *next;
  }
  return zero ? 0 : product;
}

StatusOr<Shape> CheckCallee(const ShapeQuery& q, const Computation* callee,
                            std::span<const Shape> parameters) {
  if (callee == nullptr || callee->root() == nullptr)
    return ShapeError(q, "a called computation is missing or has no root");
  const std::vector<Instruction*> formal = callee->Parameters();
  if (formal.size() != parameters.size())
    return ShapeError(q, callee->name(), " takes ", formal.size(), " parameters, got ",
                      parameters.size());
  for (size_t i = 0; i < formal.size(); ++i)
    if (formal[i]->shape() != parameters[i])
      return ShapeError(q, callee->name(), " takes ", formal[i]->shape().ToString(),
                        " as parameter ", i, ", got ", parameters[i].ToString());
  return callee->root()->shape();
}

Status CheckCombiner(const ShapeQuery& q, const Computation* combiner,
                     std::span<const Shape> values) {
  std::vector<Shape> scalars;
  for (const Shape& value : values) scalars.push_back(Shape::Array(value.dtype, {}));
  std::vector<Shape> parameters = scalars;
  parameters.insert(parameters.end(), scalars.begin(), scalars.end());
  NEURON_ASSIGN_OR_RETURN(const Shape result, CheckCallee(q, combiner, parameters));
  const Shape expected = scalars.size() == 1 ? scalars[0] : Shape::Tuple(scalars);
  if (result != expected)
    return ShapeError(q, combiner->name(), " must return ", expected.ToString(), ", returns ",
                      result.ToString());
  return OkStatus();
}

}  // namespace neuron::hlo
