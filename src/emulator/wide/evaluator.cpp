#include "emulator/wide/evaluator.h"

#include <cstring>

#include "emulator/wide/dispatch.h"

namespace neuron::emulator::wide {
namespace {

using isa::WideInstruction;
using isa::WideOp;

bool IsComparison(WideOp op) { return op >= WideOp::kCompareEq && op <= WideOp::kCompareLt; }

template <typename T>
void Fill(void* out, int n, T value) {
  auto* to = static_cast<T*>(out);
  for (int i = 0; i < n; ++i) to[i] = value;
}

void RunConstant(const WideInstruction& instruction, void* out, int n) {
  constexpr int64_t kZero = 0;
  alignas(16) std::byte value[16];
  Load(instruction.dtype, reinterpret_cast<const std::byte*>(instruction.immediate.data()), &kZero,
       1, value);
  ForKind(KindOf(instruction.dtype),
          [&]<typename T>(std::type_identity<T>) { Fill(out, n, *reinterpret_cast<T*>(value)); });
}

// Whether the operator is defined on operands of this kind; the five handled by Run itself are.
bool Supports(Kind kind, WideOp op) {
  switch (op) {
    case WideOp::kAnd:
    case WideOp::kOr:
    case WideOp::kXor:
    case WideOp::kNot:
    case WideOp::kClz:
    case WideOp::kPopcnt:
    case WideOp::kShiftLeft:
    case WideOp::kShiftRightArithmetic:
    case WideOp::kShiftRightLogical:
      return kind == Kind::kInteger;
    case WideOp::kAdd:
    case WideOp::kSubtract:
    case WideOp::kMultiply:
    case WideOp::kDivide:
    case WideOp::kPower:
    case WideOp::kNegate:
    case WideOp::kAbs:
    case WideOp::kSign:
    case WideOp::kReal:
    case WideOp::kImag:
    case WideOp::kIsFinite:
    case WideOp::kCompareEq:
    case WideOp::kCompareNe:
      return true;
    case WideOp::kCompareGe:
    case WideOp::kCompareGt:
    case WideOp::kCompareLe:
    case WideOp::kCompareLt:
    case WideOp::kMaximum:
    case WideOp::kMinimum:
    case WideOp::kClamp:
    case WideOp::kRemainder:
      return kind <= Kind::kDouble;
    case WideOp::kAtan2:
    case WideOp::kCbrt:
    case WideOp::kCeil:
    case WideOp::kDigamma:
    case WideOp::kErf:
    case WideOp::kErfc:
    case WideOp::kErfinv:
    case WideOp::kExp2:
    case WideOp::kFloor:
    case WideOp::kLgamma:
    case WideOp::kLog10:
    case WideOp::kLog2:
    case WideOp::kNextAfter:
    case WideOp::kReducePrecision:
    case WideOp::kRoundNearestAfz:
    case WideOp::kRoundNearestEven:
    case WideOp::kTrunc:
      return kind == Kind::kFloat || kind == Kind::kDouble;
    case WideOp::kNone:
    case WideOp::kCopy:
    case WideOp::kConstant:
    case WideOp::kConvert:
    case WideOp::kBitcastConvert:
    case WideOp::kSelect:
      return true;
    case WideOp::kComplex:
      return kind == Kind::kFloat || kind == Kind::kDouble;
    default:
      return kind != Kind::kInteger;  // elementary functions of real and complex numbers
  }
}

template <typename T>
void SelectAs(const Step& step) {
  const auto* predicate = static_cast<const int64_t*>(step.operands[0]);
  const auto* on_true = static_cast<const T*>(step.operands[1]);
  const auto* on_false = static_cast<const T*>(step.operands[2]);
  auto* out = static_cast<T*>(step.out);
  for (int i = 0; i < step.n; ++i) out[i] = predicate[i] ? on_true[i] : on_false[i];
}
void RunSelect(const Step& step) {
  ForKind(KindOf(step.instruction->dtype),
          [&]<typename T>(std::type_identity<T>) { SelectAs<T>(step); });
}

void RunBitcast(const Step& step) {
  int64_t offsets[kBlock];
  alignas(16) std::byte bytes[kBlock * kElementBytes];
  for (int i = 0; i < step.n; ++i) offsets[i] = i;
  Store(step.in, bytes, offsets, step.n, step.operands[0]);
  Load(step.instruction->dtype, bytes, offsets, step.n, step.out);
}

void RunMakeComplex(const Step& step) {
  const auto join = [&]<typename T>(T) {
    const auto* real = static_cast<const T*>(step.operands[0]);
    const auto* imag = static_cast<const T*>(step.operands[1]);
    auto* out = static_cast<std::complex<T>*>(step.out);
    for (int i = 0; i < step.n; ++i) out[i] = {real[i], imag[i]};
  };
  step.instruction->dtype == DType::kC128 ? join(double{}) : join(float{});
}

}  // namespace

Status Check(std::string_view kernel, const isa::WideProgram& program) {
  const auto known = [](DType dtype) {
    return dtype != DType::kInvalid && ByteSize(dtype) > 0 && static_cast<int>(dtype) < 200 &&
           dtype != DType::kF4E2M1FN && dtype != DType::kF8E8M0FNU;
  };
  for (const DType dtype : program.inputs)
    if (!known(dtype))
      return InvalidArgument("gpsimd_kernel ", kernel, ": an input has dtype ", DTypeName(dtype),
                             ", which GpSimd programs do not compute on");
  int32_t values = static_cast<int32_t>(program.inputs.size());
  for (const WideInstruction& instruction : program.instructions) {
    if (static_cast<size_t>(instruction.op) > static_cast<size_t>(WideOp::kTrunc) ||
        !known(instruction.dtype))
      return InvalidArgument("gpsimd_kernel ", kernel, ": value ", values,
                             " has an unknown operator or dtype ", DTypeName(instruction.dtype));
    const int arity = WideOpArity(instruction.op);
    for (int i = 0; i < arity; ++i) {
      const int32_t operand = instruction.operands[static_cast<size_t>(i)];
      if (operand < 0 || operand >= values)
        return InvalidArgument("gpsimd_kernel ", kernel, ": ", WideOpName(instruction.op),
                               " reads value ", operand, " of ", values);
    }
    // Same representation on both sides, or the block would be read as another type.
    const WideOp op = instruction.op;
    const auto dtype_of = [&](int i) {
      return program.dtype(instruction.operands[static_cast<size_t>(i)]);
    };
    bool ok = true;
    if (op == WideOp::kSelect) {
      ok = dtype_of(0) == DType::kPred && dtype_of(1) == instruction.dtype &&
           dtype_of(2) == instruction.dtype;
    } else if (IsComparison(op)) {
      ok = dtype_of(0) == dtype_of(1) && instruction.dtype == DType::kPred;
    } else if (op == WideOp::kComplex) {
      ok = dtype_of(0) == dtype_of(1) && IsComplex(instruction.dtype) &&
           ByteSize(instruction.dtype) == 2 * ByteSize(dtype_of(0)) && IsFloating(dtype_of(0));
    } else if (op == WideOp::kIsFinite) {
      ok = instruction.dtype == DType::kPred;
    } else if (op == WideOp::kBitcastConvert) {
      ok = ByteSize(dtype_of(0)) == ByteSize(instruction.dtype);
    } else if (IsComplex(arity ? dtype_of(0) : DType::kF32) &&
               (op == WideOp::kAbs || op == WideOp::kReal || op == WideOp::kImag)) {
      ok =
          IsFloating(instruction.dtype) && 2 * ByteSize(instruction.dtype) == ByteSize(dtype_of(0));
    } else if (op != WideOp::kConvert) {
      for (int i = 0; i < arity; ++i) ok = ok && dtype_of(i) == instruction.dtype;
    }
    if (ok && arity > 0) ok = Supports(KindOf(dtype_of(0)), op);
    if (!ok)
      return InvalidArgument("gpsimd_kernel ", kernel, ": ", WideOpName(op), " to ",
                             DTypeName(instruction.dtype), " cannot take its operands' dtypes");
    ++values;
  }
  for (const int32_t output : program.outputs)
    if (output < 0 || output >= values)
      return InvalidArgument("gpsimd_kernel ", kernel, ": output is value ", output, " of ",
                             values);
  return OkStatus();
}

Evaluator::Evaluator(const isa::WideProgram& program)
    : program_(program),
      storage_(new std::byte[(program.inputs.size() + program.instructions.size()) * kBlock *
                             kElementBytes]) {}

void* Evaluator::block(int32_t value) {
  return storage_.get() + static_cast<size_t>(value) * kBlock * kElementBytes;
}

void Evaluator::Run(int n) {
  int32_t value = static_cast<int32_t>(program_.inputs.size());
  for (const WideInstruction& instruction : program_.instructions) {
    Step step{.instruction = &instruction,
              .in = DType::kInvalid,
              .operands = {},
              .out = block(value++),
              .n = n};
    const int arity = WideOpArity(instruction.op);
    for (int i = 0; i < arity; ++i)
      step.operands[i] = block(instruction.operands[static_cast<size_t>(i)]);
    if (arity > 0) step.in = program_.dtype(instruction.operands[0]);
    switch (instruction.op) {
      case WideOp::kNone:
        continue;
      case WideOp::kConstant:
        RunConstant(instruction, step.out, n);
        continue;
      case WideOp::kSelect:
        RunSelect(step);
        continue;
      case WideOp::kConvert:
        RunConversion(step);
        continue;
      case WideOp::kBitcastConvert:
        RunBitcast(step);
        continue;
      case WideOp::kComplex:
        RunMakeComplex(step);
        continue;
      case WideOp::kCopy:
        std::memcpy(step.out, step.operands[0],
                    static_cast<size_t>(n) * BlockElementBytes(step.in));
        continue;
      default:
        break;
    }
    switch (KindOf(step.in)) {
      case Kind::kInteger:
        RunInteger(step);
        break;
      case Kind::kFloat:
        RunFloating(step);
        break;
      case Kind::kDouble:
        RunDouble(step);
        break;
      case Kind::kComplexFloat:
      case Kind::kComplexDouble:
        RunComplex(step);
        break;
    }
  }
}

}  // namespace neuron::emulator::wide
