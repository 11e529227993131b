// A small expression program: what a GpSimd kernel computes per element, comparison or combination.
//
// Values are numbered: the inputs first, then one per instruction. Each has a dtype, and each
// instruction rounds to its own, so a fused program gives the bits of its unfused steps.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace neuron::isa {

// (enumerator, arity). Semantics are HLO's elementwise operators'; those after kXor are functions
// HLO reaches through custom calls.
#define NEURON_WIDE_OPS(V)   \
  V(None, 0)                 \
  V(Copy, 1)                 \
  V(Constant, 0)             \
  V(Convert, 1)              \
  V(BitcastConvert, 1)       \
  V(Abs, 1)                  \
  V(Add, 2)                  \
  V(And, 2)                  \
  V(Atan2, 2)                \
  V(Cbrt, 1)                 \
  V(Ceil, 1)                 \
  V(Clamp, 3)                \
  V(Clz, 1)                  \
  V(CompareEq, 2)            \
  V(CompareNe, 2)            \
  V(CompareGe, 2)            \
  V(CompareGt, 2)            \
  V(CompareLe, 2)            \
  V(CompareLt, 2)            \
  V(Complex, 2)              \
  V(Cos, 1)                  \
  V(Divide, 2)               \
  V(Erf, 1)                  \
  V(Exp, 1)                  \
  V(Expm1, 1)                \
  V(Floor, 1)                \
  V(Imag, 1)                 \
  V(IsFinite, 1)             \
  V(Log, 1)                  \
  V(Log1p, 1)                \
  V(Logistic, 1)             \
  V(Maximum, 2)              \
  V(Minimum, 2)              \
  V(Multiply, 2)             \
  V(Negate, 1)               \
  V(Not, 1)                  \
  V(Or, 2)                   \
  V(Popcnt, 1)               \
  V(Power, 2)                \
  V(Real, 1)                 \
  V(ReducePrecision, 1)      \
  V(Remainder, 2)            \
  V(RoundNearestAfz, 1)      \
  V(RoundNearestEven, 1)     \
  V(Rsqrt, 1)                \
  V(Select, 3)               \
  V(ShiftLeft, 2)            \
  V(ShiftRightArithmetic, 2) \
  V(ShiftRightLogical, 2)    \
  V(Sign, 1)                 \
  V(Sin, 1)                  \
  V(Sqrt, 1)                 \
  V(Subtract, 2)             \
  V(Tan, 1)                  \
  V(Tanh, 1)                 \
  V(Xor, 2)                  \
  V(Acos, 1)                 \
  V(Acosh, 1)                \
  V(Asin, 1)                 \
  V(Asinh, 1)                \
  V(Atan, 1)                 \
  V(Atanh, 1)                \
  V(Cosh, 1)                 \
  V(Digamma, 1)              \
  V(Erfc, 1)                 \
  V(Erfinv, 1)               \
  V(Exp2, 1)                 \
  V(Lgamma, 1)               \
  V(Log10, 1)                \
  V(Log2, 1)                 \
  V(NextAfter, 2)            \
  V(Sinh, 1)                 \
  V(Trunc, 1)

enum class WideOp : uint8_t {
#define V(name, arity) k##name,
  NEURON_WIDE_OPS(V)
#undef V
};

std::string_view WideOpName(WideOp op);
int WideOpArity(WideOp op);

struct WideInstruction {
  WideOp op = WideOp::kNone;
  DType dtype = DType::kInvalid;      // of the result
  std::array<int32_t, 3> operands{};  // value numbers
  // Constant: its bits in its dtype, low word first (c128 needs both). ReducePrecision: exponent
  // and mantissa bits.
  std::array<int64_t, 2> immediate{};
  static void Fields(auto& self, auto&& visit) {
    visit(self.op);
    visit(self.dtype);
    for (auto& operand : self.operands) visit(operand);
    for (auto& word : self.immediate) visit(word);
  }
  bool operator==(const WideInstruction&) const = default;
};

struct WideProgram {
  std::vector<DType> inputs;
  std::vector<WideInstruction> instructions;
  std::vector<int32_t> outputs;  // value numbers
  static void Fields(auto& self, auto&& visit) {
    visit(self.inputs);
    visit(self.instructions);
    visit(self.outputs);
  }
  DType dtype(int32_t value) const {
    const size_t i = static_cast<size_t>(value);
    return i < inputs.size() ? inputs[i] : instructions[i - inputs.size()].dtype;
  }
  bool operator==(const WideProgram&) const = default;
};

}  // namespace neuron::isa
