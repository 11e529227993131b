#include "compiler/elementwise.h"

#include <optional>

#include "compiler/recognise.h"
#include "compiler/wide.h"

namespace neuron::compiler {
namespace {

using hlo::Opcode;
using isa::ActivationFunction;
using isa::AluOp;

std::optional<AluOp> BinaryAlu(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
      return AluOp::kAdd;
    case Opcode::kSubtract:
      return AluOp::kSubtract;
    case Opcode::kMultiply:
      return AluOp::kMultiply;
    case Opcode::kDivide:
      return AluOp::kDivide;
    case Opcode::kRemainder:
      return AluOp::kRemainder;
    case Opcode::kMaximum:
      return AluOp::kMaximum;
    case Opcode::kMinimum:
      return AluOp::kMinimum;
    case Opcode::kPower:
      return AluOp::kPower;
    case Opcode::kAtan2:
      return AluOp::kAtan2;
    case Opcode::kAnd:
      return AluOp::kBitwiseAnd;
    case Opcode::kOr:
      return AluOp::kBitwiseOr;
    case Opcode::kXor:
      return AluOp::kBitwiseXor;
    case Opcode::kShiftLeft:
      return AluOp::kLeftShift;
    case Opcode::kShiftRightLogical:
      return AluOp::kRightShift;
    case Opcode::kShiftRightArithmetic:
      return AluOp::kArithRightShift;
    default:
      return std::nullopt;
  }
}

std::optional<AluOp> UnaryAlu(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
      return AluOp::kAbs;
    case Opcode::kNegate:
      return AluOp::kNegate;
    case Opcode::kSign:
      return AluOp::kSign;
    case Opcode::kFloor:
      return AluOp::kFloor;
    case Opcode::kCeil:
      return AluOp::kCeil;
    case Opcode::kRoundNearestEven:
      return AluOp::kRoundEven;
    case Opcode::kIsFinite:
      return AluOp::kIsFinite;
    case Opcode::kSqrt:
      return AluOp::kSqrt;
    case Opcode::kClz:
      return AluOp::kCountLeadingZeros;
    case Opcode::kPopcnt:
      return AluOp::kPopulationCount;
    default:
      return std::nullopt;
  }
}

std::optional<ActivationFunction> FunctionOf(const hlo::Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kCustomCall:
      return ActivationOf(op);
    case Opcode::kCbrt:
      return ActivationFunction::kCbrt;
    case Opcode::kCos:
      return ActivationFunction::kCos;
    case Opcode::kErf:
      return ActivationFunction::kErf;
    case Opcode::kExp:
      return ActivationFunction::kExp;
    case Opcode::kExpm1:
      return ActivationFunction::kExpm1;
    case Opcode::kLog:
      return ActivationFunction::kLog;
    case Opcode::kLog1p:
      return ActivationFunction::kLog1p;
    case Opcode::kLogistic:
      return ActivationFunction::kSigmoid;
    case Opcode::kRsqrt:
      return ActivationFunction::kRsqrt;
    case Opcode::kSin:
      return ActivationFunction::kSinFull;
    case Opcode::kTan:
      return ActivationFunction::kTan;
    case Opcode::kTanh:
      return ActivationFunction::kTanh;
    default:
      return std::nullopt;
  }
}

AluOp CompareAlu(hlo::Comparison c) {
  switch (c) {
    case hlo::Comparison::kEq:
      return AluOp::kEqual;
    case hlo::Comparison::kNe:
      return AluOp::kNotEqual;
    case hlo::Comparison::kGe:
      return AluOp::kGreaterEqual;
    case hlo::Comparison::kGt:
      return AluOp::kGreater;
    case hlo::Comparison::kLe:
      return AluOp::kLessEqual;
    case hlo::Comparison::kLt:
      return AluOp::kLess;
  }
  return AluOp::kEqual;
}

// A tile like `dst`, for an intermediate.
StatusOr<Tile> Temporary(EmitContext& ctx, DType dtype, const AccessPattern& dst) {
  std::vector<Count> free;
  for (int i = 0; i < dst.num_dims; ++i) free.push_back(dst.dims[static_cast<size_t>(i)].count);
  NEURON_ASSIGN_OR_RETURN(Tile tile, ctx.AllocateTile(dtype, dst.partitions, free));
  tile.pattern.start_partition = dst.start_partition;
  return tile;
}

void Binary(EmitContext& ctx, const AccessPattern& dst, const Arg& a, const Arg& b, AluOp op) {
  if (a.is_tile() && b.is_tile()) {
    if (b.OnePerPartition()) return ctx.TensorScalar(dst, a.tile, op, b.AsScalar());
    if (a.OnePerPartition()) return ctx.TensorScalar(dst, b.tile, op, a.AsScalar(), true);
    return ctx.TensorTensor(dst, a.tile, b.tile, op);
  }
  if (a.is_tile()) return ctx.TensorScalar(dst, a.tile, op, b.AsScalar());
  ctx.TensorScalar(dst, b.tile, op, a.AsScalar(), true);
}

void Copy(EmitContext& ctx, const AccessPattern& dst, const Arg& a) {
  if (a.is_tile()) return ctx.TensorCopy(dst, a.tile);
  ctx.Memset(dst, a.number);
}

Status Convert(EmitContext& ctx, const hlo::Instruction& op, const AccessPattern& dst,
               const Arg& a) {
  const DType from = op.operand(0)->shape().dtype;
  const DType to = op.shape().dtype;
  if (to == DType::kPred) {
    ctx.TensorScalar(dst, a.tile, AluOp::kNotEqual, 0.0);
  } else if (IsFloating(from) && IsInteger(to)) {
    ctx.Unary(dst, a.tile, AluOp::kTrunc);  // HLO truncates; the store itself would round
  } else if (!IsFloating(from) && !IsFloating(to)) {
    // Integer arithmetic: exact and truncating, where a copy may pass through fp32.
    ctx.TensorScalar(dst, a.tile, AluOp::kAdd, 0.0);
  } else {
    ctx.TensorCopy(dst, a.tile);
  }
  return OkStatus();
}

Status Select(EmitContext& ctx, const AccessPattern& dst, const Arg& predicate, const Arg& on_true,
              const Arg& on_false) {
  Copy(ctx, dst, on_false);
  ctx.CopyPredicated(dst, on_true.is_tile() ? isa::Operand(on_true.tile) : on_true.AsScalar(),
                     predicate.tile);
  return OkStatus();
}

Status Clamp(EmitContext& ctx, const AccessPattern& dst, const Arg& low, const Arg& x,
             const Arg& high) {
  const bool simple_low = !low.is_tile() || low.OnePerPartition();
  const bool simple_high = !high.is_tile() || high.OnePerPartition();
  if (x.is_tile() && simple_low && simple_high) {
    ctx.TensorScalar2(dst, x.tile, AluOp::kMaximum, low.AsScalar(), false, AluOp::kMinimum,
                      high.AsScalar(), false);
    return OkStatus();
  }
  Binary(ctx, dst, x, low, AluOp::kMaximum);
  Binary(ctx, dst, Arg::OfTile(dst), high, AluOp::kMinimum);
  return OkStatus();
}

// trunc(x) + trunc(2 (x - trunc(x))): each step is exact in fp32.
Status RoundAwayFromZero(EmitContext& ctx, const AccessPattern& dst, const Arg& x) {
  NEURON_ASSIGN_OR_RETURN(const Tile whole, Temporary(ctx, DType::kF32, dst));
  NEURON_ASSIGN_OR_RETURN(const Tile rest, Temporary(ctx, DType::kF32, dst));
  ctx.Unary(whole.pattern, x.tile, AluOp::kTrunc);
  ctx.TensorTensor(rest.pattern, x.tile, whole.pattern, AluOp::kSubtract);
  ctx.TensorScalar2(rest.pattern, rest.pattern, AluOp::kMultiply, 2.0, false, AluOp::kTrunc, 0.0,
                    false);
  ctx.TensorTensor(dst, whole.pattern, rest.pattern, AluOp::kAdd);
  // An infinity minus itself is no number: keep x where it is not finite.
  NEURON_ASSIGN_OR_RETURN(const Tile finite, Temporary(ctx, DType::kU8, dst));
  ctx.TensorScalar2(finite.pattern, x.tile, AluOp::kIsFinite, 0.0, false, AluOp::kEqual, 0.0,
                    false);
  ctx.CopyPredicated(dst, x.tile, finite.pattern);
  ctx.Free(finite);
  ctx.Free(rest);
  ctx.Free(whole);
  return OkStatus();
}

// Fewer exponent and mantissa bits: through the narrow format where there is one.
std::optional<DType> NarrowFormat(const hlo::Attributes& a) {
  if (a.exponent_bits == 8 && a.mantissa_bits == 7) return DType::kBF16;
  if (a.exponent_bits == 5 && a.mantissa_bits == 10) return DType::kF16;
  if (a.exponent_bits == 5 && a.mantissa_bits == 2) return DType::kF8E5M2;
  return std::nullopt;
}

}  // namespace

Arg Arg::OfTile(AccessPattern p) {
  Arg a;
  a.kind = Kind::kTile;
  a.tile = p;
  return a;
}

Arg Arg::OfNumber(double v) {
  Arg a;
  a.number = v;
  return a;
}

Arg Arg::OfRegister(Register r) {
  Arg a;
  a.kind = Kind::kRegister;
  a.reg = r;
  return a;
}

bool Arg::OnePerPartition() const {
  if (!is_tile()) return false;
  for (int i = 0; i < tile.num_dims; ++i) {
    const isa::Dim& d = tile.dims[static_cast<size_t>(i)];
    if (d.step != 0 && !(d.count.is_constant() && d.count.max == 1)) return false;
  }
  return true;
}

isa::Operand Arg::AsScalar() const {
  switch (kind) {
    case Kind::kNumber:
      return number;
    case Kind::kRegister:
      return isa::RegisterOperand{reg};
    case Kind::kTile:
      break;
  }
  AccessPattern p = tile;
  p.num_dims = 1;
  p.dims = {};
  return p;
}

bool IsEmittable(const hlo::Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kCopy:
    case Opcode::kConvert:
    case Opcode::kCompare:
    case Opcode::kSelect:
    case Opcode::kClamp:
    case Opcode::kNot:
    case Opcode::kRoundNearestAfz:
    case Opcode::kComplex:
    case Opcode::kReal:
    case Opcode::kImag:
      return true;
    case Opcode::kBitcastConvert:
      return ByteSize(op.shape().dtype) == ByteSize(op.operand(0)->shape().dtype);
    case Opcode::kReducePrecision:
      return NarrowFormat(op.attributes()).has_value();
    default:
      return BinaryAlu(op.opcode()) || UnaryAlu(op.opcode()) || FunctionOf(op);
  }
}

Status EmitElementwise(EmitContext& ctx, const hlo::Instruction& op, const AccessPattern& dst,
                       std::span<const Arg> args) {
  bool wide = IsWide(op.shape().dtype);
  for (const hlo::Instruction* operand : op.operands()) wide |= IsWide(operand->shape().dtype);
  if (wide) return EmitWide(ctx, op, dst, args);

  const Opcode opcode = op.opcode();
  switch (opcode) {
    case Opcode::kCopy:
    case Opcode::kReshape:
      Copy(ctx, dst, args[0]);
      return OkStatus();
    case Opcode::kBitcastConvert: {
      AccessPattern bits = args[0].tile;
      bits.dtype = dst.dtype;
      ctx.TensorCopy(dst, bits);
      return OkStatus();
    }
    case Opcode::kConvert:
      return Convert(ctx, op, dst, args[0]);
    case Opcode::kCompare:
      Binary(ctx, dst, args[0], args[1], CompareAlu(op.attributes().comparison));
      return OkStatus();
    case Opcode::kSelect:
      return Select(ctx, dst, args[0], args[1], args[2]);
    case Opcode::kClamp:
      return Clamp(ctx, dst, args[0], args[1], args[2]);
    case Opcode::kNot:
      if (op.shape().dtype == DType::kPred)
        ctx.TensorScalar(dst, args[0].tile, AluOp::kBitwiseXor, 1.0);
      else
        ctx.Unary(dst, args[0].tile, AluOp::kInvert);
      return OkStatus();
    case Opcode::kRoundNearestAfz:
      return RoundAwayFromZero(ctx, dst, args[0]);
    case Opcode::kReducePrecision: {
      NEURON_ASSIGN_OR_RETURN(const Tile narrow,
                              Temporary(ctx, *NarrowFormat(op.attributes()), dst));
      ctx.TensorCopy(narrow.pattern, args[0].tile);
      ctx.TensorCopy(dst, narrow.pattern);
      ctx.Free(narrow);
      return OkStatus();
    }
    default:
      break;
  }
  if (const auto alu = BinaryAlu(opcode)) {
    AluOp what = *alu;
    if (op.shape().dtype == DType::kPred) {  // sums and products of truth values
      if (opcode == Opcode::kAdd || opcode == Opcode::kMaximum) what = AluOp::kBitwiseOr;
      if (opcode == Opcode::kMultiply || opcode == Opcode::kMinimum) what = AluOp::kBitwiseAnd;
    }
    Binary(ctx, dst, args[0], args[1], what);
    return OkStatus();
  }
  if (const auto alu = UnaryAlu(opcode)) {
    ctx.Unary(dst, args[0].tile, *alu);
    return OkStatus();
  }
  if (const auto function = FunctionOf(op)) {
    ctx.Activation(dst, *function, args[0].tile);
    return OkStatus();
  }
  return Unimplemented("compiler: ", hlo::OpcodeName(opcode), " of ", op.shape().ToString());
}

}  // namespace neuron::compiler
