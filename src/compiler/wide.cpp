#include "compiler/wide.h"

#include <cstring>

namespace neuron::compiler {

using hlo::Opcode;
using isa::AluOp;

namespace {

bool Is64BitInteger(DType t) { return t == DType::kS64 || t == DType::kU64; }

// Word `word` of each element, as s32.
AccessPattern Word(AccessPattern p, int64_t word) {
  const int64_t ratio = ByteSize(p.dtype) / 4;
  p.dtype = DType::kS32;
  p.offset = p.offset + Affine(4 * word);
  for (int i = 0; i < p.num_dims; ++i) p.dims[static_cast<size_t>(i)].step *= ratio;
  return p;
}

int32_t WordOf(DType dtype, double number, int64_t word) {
  int64_t bits = 0;
  if (IsInteger(dtype)) {
    bits = static_cast<int64_t>(number);
  } else if (dtype == DType::kF64) {
    std::memcpy(&bits, &number, 8);
  } else {  // complex: the real part, imaginary part 0
    const float real = static_cast<float>(number);
    if (word >= 1) return 0;
    std::memcpy(&bits, &real, 4);
  }
  return static_cast<int32_t>(bits >> (32 * (word & 1)));
}

void CopyWord(EmitContext& ctx, const AccessPattern& dst, const Arg& a, int64_t word) {
  if (a.is_tile())
    ctx.TensorCopy(Word(dst, word), Word(a.tile, word));
  else
    ctx.Memset(Word(dst, word), WordOf(dst.dtype, a.number, word));
}

StatusOr<Tile> Temporary(EmitContext& ctx, DType dtype, const AccessPattern& dst) {
  std::vector<Count> free;
  for (int i = 0; i < dst.num_dims; ++i) free.push_back(dst.dims[static_cast<size_t>(i)].count);
  return ctx.AllocateTile(dtype, dst.partitions, free);
}

}  // namespace

bool TouchesWide(const hlo::Instruction& op) {
  if (!op.shape().is_array()) return false;
  bool wide = IsWide(op.shape().dtype);
  for (const hlo::Instruction* x : op.operands())
    wide |= x->shape().is_array() && IsWide(x->shape().dtype);
  return wide;
}

bool IsWideMovement(const hlo::Instruction& op) {
  const DType to = op.shape().dtype;
  switch (op.opcode()) {
    case Opcode::kCopy:
    case Opcode::kSelect:
      return true;
    case Opcode::kBitcastConvert:
      return ByteSize(op.operand(0)->shape().dtype) == ByteSize(to);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      return Is64BitInteger(to);
    case Opcode::kConvert: {
      const DType from = op.operand(0)->shape().dtype;
      if (Is64BitInteger(to)) return IsInteger(from) || from == DType::kPred;
      if (Is64BitInteger(from)) return IsInteger(to) || to == DType::kPred;
      return false;
    }
    default:
      return false;
  }
}

Status WidenInteger(EmitContext& ctx, const AccessPattern& dst, const Arg& narrow) {
  const AccessPattern low = Word(dst, 0);
  const AccessPattern high = Word(dst, 1);
  // Integer arithmetic rather than a copy: exact for every dtype.
  ctx.TensorScalar(low, narrow.tile, AluOp::kAdd, 0.0);
  if (IsSigned(narrow.tile.dtype))
    ctx.TensorScalar(high, low, AluOp::kArithRightShift, 31.0);
  else
    ctx.Memset(high, 0);
  return OkStatus();
}

Status FillWide(EmitContext& ctx, const AccessPattern& dst, DType dtype, double value) {
  for (int64_t w = 0; w < ByteSize(dtype) / 4; ++w) CopyWord(ctx, dst, Arg::OfNumber(value), w);
  return OkStatus();
}

Status EmitWide(EmitContext& ctx, const hlo::Instruction& op, const AccessPattern& dst,
                std::span<const Arg> args) {
  const DType to = op.shape().dtype;
  const int64_t words = ByteSize(to) / 4;
  switch (op.opcode()) {
    case Opcode::kCopy:
    case Opcode::kBitcastConvert:
      for (int64_t w = 0; w < words; ++w) CopyWord(ctx, dst, args[0], w);
      return OkStatus();
    case Opcode::kSelect:
      for (int64_t w = 0; w < words; ++w) {
        CopyWord(ctx, dst, args[2], w);
        ctx.CopyPredicated(Word(dst, w),
                           args[1].is_tile()
                               ? isa::Operand(Word(args[1].tile, w))
                               : isa::Operand(static_cast<double>(WordOf(to, args[1].number, w))),
                           args[0].tile);
      }
      return OkStatus();
    case Opcode::kNot:
      for (int64_t w = 0; w < words; ++w)
        ctx.Unary(Word(dst, w), Word(args[0].tile, w), AluOp::kInvert);
      return OkStatus();
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor: {
      const AluOp alu = op.opcode() == Opcode::kAnd  ? AluOp::kBitwiseAnd
                        : op.opcode() == Opcode::kOr ? AluOp::kBitwiseOr
                                                     : AluOp::kBitwiseXor;
      const bool swap = !args[0].is_tile();
      const Arg& a = args[swap ? 1 : 0];
      const Arg& c = args[swap ? 0 : 1];
      for (int64_t w = 0; w < words; ++w) {
        if (c.is_tile())
          ctx.TensorTensor(Word(dst, w), Word(a.tile, w), Word(c.tile, w), alu);
        else
          ctx.TensorScalar(Word(dst, w), Word(a.tile, w), alu,
                           static_cast<double>(WordOf(to, c.number, w)));
      }
      return OkStatus();
    }
    case Opcode::kConvert: {
      const DType from = op.operand(0)->shape().dtype;
      if (!IsWide(from)) return WidenInteger(ctx, dst, args[0]);
      if (IsWide(to)) {
        for (int64_t w = 0; w < words; ++w) CopyWord(ctx, dst, args[0], w);
        return OkStatus();
      }
      if (to != DType::kPred) {
        ctx.TensorScalar(dst, Word(args[0].tile, 0), AluOp::kAdd, 0.0);
        return OkStatus();
      }
      NEURON_ASSIGN_OR_RETURN(const Tile any, Temporary(ctx, DType::kS32, dst));
      ctx.TensorTensor(any.pattern, Word(args[0].tile, 0), Word(args[0].tile, 1),
                       AluOp::kBitwiseOr);
      ctx.TensorScalar(dst, any.pattern, AluOp::kNotEqual, 0.0);
      ctx.Free(any);
      return OkStatus();
    }
    default:
      return Unimplemented("compiler: ", hlo::OpcodeName(op.opcode()), " of ",
                           op.shape().ToString(), " on Vector");
  }
}

}  // namespace neuron::compiler
