#include "compiler/disjoint_sum.h"

#include <algorithm>

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

bool IsZero(const Instruction* x) {
  while (x->opcode() == Opcode::kReshape || x->opcode() == Opcode::kSlice ||
         x->opcode() == Opcode::kBroadcast)
    x = x->operand(0);
  return x->opcode() == Opcode::kConstant && x->attributes().literal.IsSplat() &&
         x->attributes().literal.AsDouble() == 0;
}

std::vector<FlatPiece> PiecesOf(const Instruction& sum) {
  const Instruction* x = &sum;
  while (x->opcode() == Opcode::kReshape) x = x->operand(0);
  std::vector<FlatPiece> pieces;
  const bool flat = x->opcode() == Opcode::kConcatenate && x->attributes().dimensions[0] == 0;
  if (!flat) return pieces;
  for (Instruction* operand : x->operands())
    pieces.push_back({IsZero(operand) ? nullptr : operand, operand->shape().num_elements()});
  return pieces;
}

}  // namespace

std::optional<std::vector<FlatPiece>> DisjointSum(const Instruction& a, const Instruction& b) {
  std::vector<FlatPiece> left = PiecesOf(a), right = PiecesOf(b), out;
  if (left.empty() || right.empty()) return std::nullopt;
  size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    FlatPiece &l = left[i], &r = right[j];
    if (l.value != nullptr && r.value != nullptr) return std::nullopt;
    const int64_t n = std::min(l.elements, r.elements);
    // A value goes in whole: the zeros beside it must last as long.
    if ((l.value != nullptr && l.elements != n) || (r.value != nullptr && r.elements != n)) {
      FlatPiece& zeros = l.value != nullptr ? r : l;
      size_t& at = l.value != nullptr ? j : i;
      const std::vector<FlatPiece>& list = l.value != nullptr ? right : left;
      if (at + 1 == list.size() || list[at + 1].value != nullptr) return std::nullopt;
      const int64_t joined = zeros.elements;
      ++at;
      (l.value != nullptr ? right : left)[at].elements += joined;
      continue;
    }
    out.push_back({l.value != nullptr ? l.value : r.value, n});
    l.elements -= n;
    r.elements -= n;
    if (l.elements == 0) ++i;
    if (r.elements == 0) ++j;
  }
  return i == left.size() && j == right.size() ? std::optional(out) : std::nullopt;
}

Instruction* Concatenated(CanonicalBuilder& b, const std::vector<FlatPiece>& pieces,
                          const hlo::Shape& shape) {
  // Along the outermost dimension if the pieces are slices of it: then the sum may be transposed
  // without a copy.
  const int64_t slice = shape.num_elements() / std::max<int64_t>(shape.dims[0], 1);
  const bool sliced = std::all_of(pieces.begin(), pieces.end(), [&](const FlatPiece& piece) {
    return piece.elements % slice == 0;
  });
  hlo::Shape whole = sliced ? shape : hlo::Shape::Array(shape.dtype, {shape.num_elements()});
  std::vector<Instruction*> parts;
  for (const FlatPiece& piece : pieces) {
    hlo::Shape part = whole;
    part.dims[0] = sliced ? piece.elements / slice : piece.elements;
    if (piece.value != nullptr) {
      Instruction* value = piece.value;
      while (value->opcode() == Opcode::kReshape) value = value->operand(0);
      parts.push_back(value->shape() == part ? value : b.Emit(Opcode::kReshape, part, {value}));
      continue;
    }
    parts.push_back(b.Zeros(part));
  }
  hlo::Attributes along;
  along.dimensions = {0};
  Instruction* sum =
      parts.size() == 1 ? parts[0] : b.Emit(Opcode::kConcatenate, whole, parts, along);
  return sum->shape() == shape ? sum : b.Emit(Opcode::kReshape, shape, {sum});
}

}  // namespace neuron::compiler
