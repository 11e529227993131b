#include "compiler/chunked_reduce.h"

#include "compiler/reduction.h"
#include "hlo/extent.h"

namespace neuron::compiler {

using hlo::Attributes;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

namespace {

bool IsLong(int64_t row) { return row > kMostRow && row % kReductionChunk == 0; }

}  // namespace

bool HasWholeChunks(const Instruction& x, const Shape& shape, const Instruction& init) {
  const std::optional<isa::AluOp> op = ReductionAlu(x);
  // Chunks' results are rounded to fp32 whatever the result is rounded to.
  if (!op || (IsFloating(x.shape().dtype) && x.shape().dtype != DType::kF32) ||
      init.opcode() != Opcode::kConstant || hlo::AnyRunTime(shape.dims) ||
      !IsIdentity(*op, x.shape().dtype, init.attributes().literal.AsDouble()))
    return false;
  const std::vector<int64_t>& reduced = x.attributes().dimensions;
  for (size_t i = 0; i < reduced.size(); ++i)
    if (reduced[i] != x.shape().rank() + static_cast<int64_t>(i)) return false;
  return IsLong(shape.num_elements() / x.shape().num_elements());
}

Instruction* ReduceByChunks(CanonicalBuilder& b, const Instruction& x, Instruction* operand,
                            Instruction* init) {
  const Shape results = x.shape();
  int64_t row = operand->shape().num_elements() / results.num_elements();
  Attributes last;
  while (IsLong(row)) {
    row /= kReductionChunk;
    Shape chunks = results;
    chunks.dims.push_back(row);
    Shape elements = chunks;
    elements.dims.push_back(kReductionChunk);
    last.dimensions = {results.rank() + 1};
    operand = b.Emit(Opcode::kReduce, chunks, {b.Emit(Opcode::kReshape, elements, {operand}), init},
                     last, x.called());
  }
  last.dimensions = {results.rank()};
  return b.Emit(Opcode::kReduce, results, {operand, init}, last, x.called());
}

}  // namespace neuron::compiler
