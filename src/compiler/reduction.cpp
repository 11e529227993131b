#include "compiler/reduction.h"

#include <cmath>
#include <limits>

namespace neuron::compiler {

using hlo::Opcode;
using isa::AluOp;

std::optional<AluOp> ReductionAlu(const hlo::Instruction& reduce) {
  if (!reduce.shape().is_array() || IsWide(reduce.shape().dtype)) return std::nullopt;
  const hlo::Computation* combiner = reduce.called()[0];
  const hlo::Instruction* root = combiner->root();
  if (root->operands().size() != 2) return std::nullopt;
  for (const hlo::Instruction* operand : root->operands())
    if (operand->opcode() != Opcode::kParameter) return std::nullopt;
  if (root->operand(0) == root->operand(1)) return std::nullopt;
  const bool pred = reduce.shape().dtype == DType::kPred;
  switch (root->opcode()) {
    case Opcode::kAdd:
      return pred ? AluOp::kMaximum : AluOp::kAdd;
    case Opcode::kMultiply:
      return pred ? AluOp::kMinimum : AluOp::kMultiply;
    case Opcode::kMaximum:
      return AluOp::kMaximum;
    case Opcode::kMinimum:
      return AluOp::kMinimum;
    case Opcode::kAnd:
      return pred ? AluOp::kMinimum : AluOp::kBitwiseAnd;
    case Opcode::kOr:
      return pred ? AluOp::kMaximum : AluOp::kBitwiseOr;
    case Opcode::kXor:
      return AluOp::kBitwiseXor;
    default:
      return std::nullopt;
  }
}

namespace {
double Lowest(DType dtype) {
  if (IsFloating(dtype)) return -std::numeric_limits<double>::infinity();
  if (!IsSigned(dtype)) return 0;
  return -std::ldexp(1.0, static_cast<int>(8 * ByteSize(dtype)) - 1);
}
double Highest(DType dtype) {
  if (IsFloating(dtype)) return std::numeric_limits<double>::infinity();
  if (dtype == DType::kPred) return 1;
  return std::ldexp(1.0, static_cast<int>(8 * ByteSize(dtype)) - (IsSigned(dtype) ? 1 : 0)) - 1;
}
}  // namespace

bool IsIdentity(AluOp op, DType dtype, double value) {
  switch (op) {
    case AluOp::kAdd:
    case AluOp::kBitwiseOr:
    case AluOp::kBitwiseXor:
      return value == 0;
    case AluOp::kMultiply:
      return value == 1;
    case AluOp::kMaximum:
      return value == Lowest(dtype);
    case AluOp::kMinimum:
      return value == Highest(dtype);
    case AluOp::kBitwiseAnd:
      return IsSigned(dtype) ? value == -1 : value == Highest(dtype);
    default:
      return false;
  }
}

Status EmitRowReduce(EmitContext& ctx, const hlo::Instruction& reduce, const AccessPattern& dst,
                     const AccessPattern& data, int axes) {
  const AluOp op = *ReductionAlu(reduce);
  int64_t n = 1;
  for (int i = data.num_dims - axes; i < data.num_dims; ++i)
    n *= data.dims[static_cast<size_t>(i)].count.max;
  if (n <= kReductionChunk) {
    ctx.TensorReduce(dst, op, data, axes);
    return OkStatus();
  }
  // Chunks need one flat reduced axis.
  AccessPattern flat = data;
  flat.dims = {};
  flat.num_dims = static_cast<uint8_t>(axes);
  for (int i = 0; i < axes; ++i)
    flat.dims[static_cast<size_t>(i)] = data.dims[static_cast<size_t>(data.num_dims - axes + i)];
  flat = Simplified(flat);
  if (flat.num_dims != 1)
    return Unimplemented("compiler: a row of ", n,
                         " elements that does not lie evenly, reduced by ", reduce.name());
  const int64_t step = flat.dims[0].step;
  const int kept = data.num_dims - axes;
  const int64_t chunks = (n + kReductionChunk - 1) / kReductionChunk;
  std::vector<Count> counts;
  for (int i = 0; i < kept; ++i) counts.push_back(data.dims[static_cast<size_t>(i)].count);
  counts.emplace_back(chunks);
  const DType dtype = IsFloating(reduce.shape().dtype) ? DType::kF32 : reduce.shape().dtype;
  NEURON_ASSIGN_OR_RETURN(const Tile partial, ctx.AllocateTile(dtype, data.partitions, counts));
  const auto piece = [&](int64_t first, int64_t pieces, int64_t length) {
    AccessPattern from = data;
    from.dims[static_cast<size_t>(kept)] = {step * kReductionChunk, pieces};
    from.dims[static_cast<size_t>(kept) + 1] = {step, length};
    from.num_dims = static_cast<uint8_t>(kept + 2);
    from.offset = from.offset + Affine(first * kReductionChunk * step * ByteSize(data.dtype));
    AccessPattern to = partial.pattern;
    to.dims[static_cast<size_t>(kept)].count = Count(pieces);
    to.offset = to.offset + Affine(first * ByteSize(dtype));
    ctx.TensorReduce(to, op, from, 1);
  };
  const int64_t whole = n / kReductionChunk;
  piece(0, whole, kReductionChunk);
  if (n % kReductionChunk != 0) piece(whole, 1, n % kReductionChunk);
  NEURON_RETURN_IF_ERROR(EmitRowReduce(ctx, reduce, dst, partial.pattern, 1));
  ctx.Free(partial);
  return OkStatus();
}

}  // namespace neuron::compiler
