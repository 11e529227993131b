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

// One word of an operand: a tile, or a number.
isa::Operand WordOperand(const Arg& a, int64_t word, DType dtype) {
  if (a.is_tile()) return Word(a.tile, word);
  return static_cast<double>(WordOf(dtype, a.number, word));
}

void WordAlu(EmitContext& ctx, const AccessPattern& dst, const isa::Operand& a,
             const isa::Operand& c, AluOp op) {
  const auto* left = std::get_if<AccessPattern>(&a);
  const auto* right = std::get_if<AccessPattern>(&c);
  if (left != nullptr && right != nullptr) return ctx.TensorTensor(dst, *left, *right, op);
  if (left != nullptr) return ctx.TensorScalar(dst, *left, op, c);
  ctx.TensorScalar(dst, *right, op, a, true);
}

constexpr double kSignBit = -2147483648.0;

// dst (u8) = a < b as unsigned words: signed comparison with both signs turned. x and y are
// intermediates.
void LessUnsigned(EmitContext& ctx, const AccessPattern& dst, const isa::Operand& a,
                  const isa::Operand& b, AluOp op, const AccessPattern& x, const AccessPattern& y) {
  const auto turned = [&](const isa::Operand& from, const AccessPattern& to) -> isa::Operand {
    if (const auto* tile = std::get_if<AccessPattern>(&from)) {
      ctx.TensorScalar(to, *tile, AluOp::kBitwiseXor, kSignBit);
      return to;
    }
    return static_cast<double>(static_cast<int32_t>(
        static_cast<uint32_t>(static_cast<int32_t>(std::get<double>(from))) ^ 0x80000000u));
  };
  const isa::Operand left = turned(a, x);
  const isa::Operand right = turned(b, y);
  WordAlu(ctx, dst, left, right, op);
}

// s64 comparisons: high words decide, low words (unsigned) where they are equal.
Status Compare(EmitContext& ctx, hlo::Comparison comparison, const AccessPattern& dst, const Arg& a,
               const Arg& b) {
  AluOp high = AluOp::kEqual;
  AluOp low = AluOp::kEqual;
  switch (comparison) {
    case hlo::Comparison::kEq:
      break;
    case hlo::Comparison::kNe:
      high = low = AluOp::kNotEqual;
      break;
    case hlo::Comparison::kLt:
      high = low = AluOp::kLess;
      break;
    case hlo::Comparison::kLe:
      high = AluOp::kLess, low = AluOp::kLessEqual;
      break;
    case hlo::Comparison::kGt:
      high = low = AluOp::kGreater;
      break;
    case hlo::Comparison::kGe:
      high = AluOp::kGreater, low = AluOp::kGreaterEqual;
      break;
  }
  NEURON_ASSIGN_OR_RETURN(const Tile other, Temporary(ctx, DType::kU8, dst));
  const isa::Operand a0 = WordOperand(a, 0, DType::kS64), a1 = WordOperand(a, 1, DType::kS64);
  const isa::Operand b0 = WordOperand(b, 0, DType::kS64), b1 = WordOperand(b, 1, DType::kS64);
  if (high == AluOp::kEqual || high == AluOp::kNotEqual) {
    WordAlu(ctx, other.pattern, a1, b1, high);
    WordAlu(ctx, dst, a0, b0, low);
    ctx.TensorTensor(dst, dst, other.pattern,
                     high == AluOp::kEqual ? AluOp::kBitwiseAnd : AluOp::kBitwiseOr);
  } else {
    NEURON_ASSIGN_OR_RETURN(const Tile x, Temporary(ctx, DType::kS32, dst));
    NEURON_ASSIGN_OR_RETURN(const Tile y, Temporary(ctx, DType::kS32, dst));
    LessUnsigned(ctx, dst, a0, b0, low, x.pattern, y.pattern);
    WordAlu(ctx, other.pattern, a1, b1, AluOp::kEqual);
    ctx.TensorTensor(dst, dst, other.pattern, AluOp::kBitwiseAnd);
    WordAlu(ctx, other.pattern, a1, b1, high);
    ctx.TensorTensor(dst, dst, other.pattern, AluOp::kBitwiseOr);
    ctx.Free(y);
    ctx.Free(x);
  }
  ctx.Free(other);
  return OkStatus();
}

// Words with a carry: the low sum wrapped if it is below an operand, the low difference borrows if
// the subtrahend is larger.
Status AddOrSubtract(EmitContext& ctx, bool subtract, const AccessPattern& dst, const Arg& a,
                     const Arg& b) {
  const AluOp op = subtract ? AluOp::kSubtract : AluOp::kAdd;
  const isa::Operand a0 = WordOperand(a, 0, dst.dtype), a1 = WordOperand(a, 1, dst.dtype);
  const isa::Operand b0 = WordOperand(b, 0, dst.dtype), b1 = WordOperand(b, 1, dst.dtype);
  NEURON_ASSIGN_OR_RETURN(const Tile carry, Temporary(ctx, DType::kU8, dst));
  NEURON_ASSIGN_OR_RETURN(const Tile x, Temporary(ctx, DType::kS32, dst));
  NEURON_ASSIGN_OR_RETURN(const Tile y, Temporary(ctx, DType::kS32, dst));
  const AccessPattern low = Word(dst, 0);
  const AccessPattern high = Word(dst, 1);
  WordAlu(ctx, low, a0, b0, op);
  if (subtract)
    LessUnsigned(ctx, carry.pattern, a0, b0, AluOp::kLess, x.pattern, y.pattern);
  else
    LessUnsigned(ctx, carry.pattern, low, a.is_tile() ? a0 : b0, AluOp::kLess, x.pattern,
                 y.pattern);
  WordAlu(ctx, high, a1, b1, op);
  ctx.TensorTensor(high, high, carry.pattern, op);
  ctx.Free(y);
  ctx.Free(x);
  ctx.Free(carry);
  return OkStatus();
}

}  // namespace

bool TouchesWide(const hlo::Instruction& op) {
  if (!op.shape().is_array()) return false;
  bool wide = IsWide(op.shape().dtype);
  for (const hlo::Instruction* x : op.operands())
    wide |= x->shape().is_array() && IsWide(x->shape().dtype);
  return wide;
}

namespace {

// x >> n for a constant n from 32 on: the high word alone decides.
bool IsHighWordShift(const hlo::Instruction& op) {
  const hlo::Instruction* by = op.operand(1);
  if (by->opcode() == Opcode::kBroadcast) by = by->operand(0);
  if (op.shape().dtype != DType::kS64 || by->opcode() != Opcode::kConstant) return false;
  const hlo::Literal& literal = by->attributes().literal;
  return literal.IsSplat() && literal.AsInt64() >= 32 && literal.AsInt64() < 64;
}

}  // namespace

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
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return Is64BitInteger(to);
    case Opcode::kShiftRightArithmetic:
      return IsHighWordShift(op);
    case Opcode::kCompare:
      return op.operand(0)->shape().dtype == DType::kS64;
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
    case Opcode::kShiftRightArithmetic: {
      const AccessPattern high = Word(args[0].tile, 1);
      ctx.TensorScalar(Word(dst, 0), high, AluOp::kArithRightShift, args[1].number - 32);
      ctx.TensorScalar(Word(dst, 1), high, AluOp::kArithRightShift, 31.0);
      return OkStatus();
    }
    case Opcode::kCompare:
      return Compare(ctx, op.attributes().comparison, dst, args[0], args[1]);
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return AddOrSubtract(ctx, op.opcode() == Opcode::kSubtract, dst, args[0], args[1]);
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
