#include "compiler/simplify.h"

#include <algorithm>

#include "compiler/chunked_reduce.h"
#include "compiler/column_sum.h"
#include "compiler/constant_folding.h"
#include "compiler/disjoint_sum.h"
#include "compiler/index_values.h"
#include "compiler/recognise.h"
#include "compiler/reduction.h"
#include "compiler/refusals.h"

namespace neuron::compiler {
namespace {

using hlo::Attributes;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

bool IsIdentityPermutation(const std::vector<int64_t>& p) {
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Instruction* Activation(CanonicalBuilder& b, const Shape& shape, const ActivationChain& chain) {
  Attributes call;
  call.custom_call_target = chain.target;
  return b.Emit(Opcode::kCustomCall, shape, {chain.operand}, std::move(call));
}

// An index value is computed on the broadcast indices, by an instruction of its own for every
// reader (index_values.h).
Instruction* Spread(CanonicalBuilder& b, Instruction* x, const Shape& shape,
                    const Attributes& broadcast) {
  const Shape whole = Shape::Array(x->shape().dtype, shape.dims);
  if (!IsIndexValue(*x)) return b.Emit(Opcode::kBroadcast, whole, {x}, broadcast);
  std::vector<Instruction*> operands;
  for (Instruction* operand : x->operands())
    operands.push_back(Spread(b, operand, shape, broadcast));
  return b.entry().Add(x->opcode(), whole, std::move(operands), x->attributes(), x->called());
}

// A reduction over extents of one: no row is left that a kernel could reduce. The combination
// with the initial value stays, since -0 + 0 is +0.
Instruction* CombineOnce(CanonicalBuilder& b, const Instruction& x, Instruction* data,
                         Instruction* init) {
  Instruction* element = b.Emit(Opcode::kReshape, x.shape(), {data});
  Instruction* initial = b.Emit(Opcode::kBroadcast, x.shape(), {init});
  return b.Emit(x.called()[0]->root()->opcode(), x.shape(), {initial, element});
}

Instruction* Iota(CanonicalBuilder& b, const Shape& shape, int64_t dimension) {
  const int64_t n = shape.dims[static_cast<size_t>(dimension)];
  // A view's addresses are integers: wide numbers that are none are converted.
  const bool converted = IsWide(shape.dtype) && !IsInteger(shape.dtype);
  const Shape line = Shape::Array(shape.dtype, {n});
  Attributes first;
  first.dimensions = {0};
  Instruction* values =
      b.Emit(Opcode::kIota, Shape::Array(converted ? DType::kS64 : shape.dtype, {n}), {},
             std::move(first));
  if (converted) values = b.Emit(Opcode::kConvert, line, {values});
  if (shape.rank() == 1) return values;
  Attributes along;
  along.dimensions = {dimension};
  return b.Emit(Opcode::kBroadcast, shape, {values}, std::move(along));
}

}  // namespace

Instruction* Simplify(CanonicalBuilder& b, const Instruction& x,
                      const std::vector<Instruction*>& operands, bool relaxed) {
  const Attributes& a = x.attributes();
  switch (x.opcode()) {
    case Opcode::kReshape:
    case Opcode::kConvert:
      if (operands[0]->shape() == x.shape()) return operands[0];
      if (operands[0]->opcode() == x.opcode() && x.opcode() == Opcode::kReshape)
        return b.Emit(Opcode::kReshape, x.shape(), {operands[0]->operand(0)});
      if (operands[0]->opcode() == Opcode::kConstant && x.opcode() == Opcode::kConvert)
        if (Instruction* folded = FoldConvert(b, x, *operands[0])) return folded;
      break;
    case Opcode::kMultiply:
      if (auto chain = RecogniseProduct(operands)) return Activation(b, x.shape(), *chain);
      break;
    case Opcode::kConvolution:
      if (operands[0]->shape().num_elements() == 0 || operands[1]->shape().num_elements() == 0)
        return b.Zeros(x.shape());  // a sum of nothing
      break;
    case Opcode::kTranspose:
      if (IsIdentityPermutation(a.dimensions)) return operands[0];
      break;
    case Opcode::kSelect:
      if (const auto chosen = KnownPredicate(*operands[0])) return operands[*chosen ? 1 : 2];
      break;
    case Opcode::kBroadcast:
      if (operands[0]->shape() == x.shape()) return operands[0];
      if (IsIndexValue(*operands[0])) return Spread(b, operands[0], x.shape(), a);
      break;
    case Opcode::kSlice:
    case Opcode::kCopy:
      if (operands[0]->shape() == x.shape()) return operands[0];
      break;
    case Opcode::kReverse:
      if (a.dimensions.empty()) return operands[0];
      break;
    case Opcode::kScatter:
      if (operands.size() == 3 && operands[2]->shape().num_elements() == 0) return operands[0];
      break;
    case Opcode::kDynamicSlice:
      if (Instruction* slice = StaticSlice(b, x, operands)) return slice;
      break;
    case Opcode::kConcatenate:
      if (operands.size() == 1) return operands[0];
      break;
    case Opcode::kAdd:
      if (auto chain = RecogniseSum(operands)) return Activation(b, x.shape(), *chain);
      if (relaxed && IsFloating(x.shape().dtype))
        if (const auto pieces = DisjointSum(*operands[0], *operands[1]))
          return Concatenated(b, *pieces, x.shape());
      break;
    case Opcode::kPad: {
      const bool nothing = std::all_of(a.padding.begin(), a.padding.end(),
                                       [](const auto& p) { return p == hlo::PaddingDimension{}; });
      if (nothing) return operands[0];
      break;
    }
    case Opcode::kIota:
      return Iota(b, x.shape(), a.dimensions[0]);
    case Opcode::kPartitionId:  // a program runs alone
    case Opcode::kReplicaId:
      return b.Zeros(x.shape());
    case Opcode::kCustomCall:
      if (IsPassThrough(x)) return operands[0];
      break;
    case Opcode::kGetDimensionSize:
      if (!operands[0]->shape().is_dynamic()) {
        Attributes size;
        size.literal = hlo::Literal::Scalar(
            x.shape().dtype, operands[0]->shape().dims[static_cast<size_t>(a.dimensions[0])]);
        return b.Emit(Opcode::kConstant, x.shape(), {}, std::move(size));
      }
      break;
    case Opcode::kBitcastConvert:
      // Other widths are another view of the bytes, which a dense buffer always has.
      if (ByteSize(operands[0]->shape().dtype) != ByteSize(x.shape().dtype))
        return b.Emit(x.opcode(), x.shape(),
                      {b.Emit(Opcode::kCopy, operands[0]->shape(), {operands[0]})});
      break;
    case Opcode::kReduceWindow: {
      const bool single = x.operands().size() == 2 &&
                          std::all_of(a.window.begin(), a.window.end(),
                                      [](const auto& w) { return w == hlo::WindowDimension{}; });
      const auto op = single ? ReductionAlu(x) : std::nullopt;
      if (op && operands[1]->opcode() == Opcode::kConstant &&
          IsIdentity(*op, x.shape().dtype, operands[1]->attributes().literal.AsDouble()))
        return operands[0];
      break;
    }
    case Opcode::kReduce:
      if (operands[0]->shape().num_elements() == 0)
        return b.Emit(Opcode::kBroadcast, x.shape(), {operands[1]});
      if (a.dimensions.empty()) return operands[0];
      if (operands[0]->shape().num_elements() == x.shape().num_elements() && ReductionAlu(x))
        return CombineOnce(b, x, operands[0], operands[1]);
      if (relaxed && IsColumnSum(x, *operands[1])) return ColumnSum(b, x, operands[0]);
      if (HasWholeChunks(x, operands[0]->shape(), *operands[1]))
        return ReduceByChunks(b, x, operands[0], operands[1]);
      break;
    default:
      break;
  }
  if (hlo::IsElementwise(x.opcode()) || !OwnsBuffer(x) ||
      (x.opcode() == Opcode::kReduce && ReductionAlu(x)))
    return b.Emit(x.opcode(), x.shape(), operands, a, x.called());
  // Kernels of one instruction read buffers: an iota gets one.
  std::vector<Instruction*> placed = operands;
  for (Instruction*& operand : placed) operand = b.Placed(operand);
  return b.Emit(x.opcode(), x.shape(), placed, a, x.called());
}

}  // namespace neuron::compiler
