#include "compiler/recognise.h"

#include <utility>

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

struct Match {
  isa::ActivationFunction function;
  std::string_view name;
};
constexpr Match kGelu{isa::ActivationFunction::kGelu, "gelu"};
constexpr Match kGeluDx{isa::ActivationFunction::kGeluDx, "gelu_dx"};
constexpr Match kGeluTanh{isa::ActivationFunction::kGeluApprxTanh, "gelu_apprx_tanh"};

// A constant, spread or not, of exactly this fp32 value.
bool Is(const Instruction* x, float value) {
  while (x->opcode() == Opcode::kBroadcast || x->opcode() == Opcode::kReshape) x = x->operand(0);
  return x->opcode() == Opcode::kConstant && x->shape().dtype == DType::kF32 &&
         x->attributes().literal.IsSplat() &&
         static_cast<float>(x->attributes().literal.AsDouble(0)) == value;
}

// The other operand of `x`, if it is this operation with a constant.
Instruction* With(Instruction* x, Opcode opcode, float value) {
  if (x->opcode() != opcode) return nullptr;
  if (Is(x->operand(1), value)) return x->operand(0);
  return Is(x->operand(0), value) ? x->operand(1) : nullptr;
}

bool IsProduct(const Instruction* x, const Instruction* a, const Instruction* b) {
  return x->opcode() == Opcode::kMultiply &&
         ((x->operand(0) == a && x->operand(1) == b) || (x->operand(0) == b && x->operand(1) == a));
}

ActivationChain Chain(Instruction* x, const Match& match) {
  return {x, std::string(kActivationCall) + std::string(match.name)};
}

// x, if `inner` is (x + ((x x) x) 0.044715) sqrt(2 / pi).
bool IsCubic(Instruction* inner, const Instruction* x) {
  Instruction* sum = With(inner, Opcode::kMultiply, 0.797884561f);
  if (sum == nullptr || sum->opcode() != Opcode::kAdd) return false;
  for (int i = 0; i < 2; ++i) {
    if (sum->operand(i) != x) continue;
    Instruction* cube = With(sum->operand(1 - i), Opcode::kMultiply, 0.044715f);
    if (cube == nullptr || cube->opcode() != Opcode::kMultiply) continue;
    for (int k = 0; k < 2; ++k)
      if (cube->operand(k) == x && IsProduct(cube->operand(1 - k), x, x)) return true;
  }
  return false;
}

// (x 0.5) (f(...) + 1), as PyTorch writes gelu.
std::optional<ActivationChain> Gelu(Instruction* half, Instruction* rest) {
  Instruction* x = With(half, Opcode::kMultiply, 0.5f);
  Instruction* function = With(rest, Opcode::kAdd, 1.0f);
  if (x == nullptr || function == nullptr) return std::nullopt;
  const Match* match = nullptr;
  if (function->opcode() == Opcode::kErf &&
      With(function->operand(0), Opcode::kMultiply, 0.707106781f) == x)
    match = &kGelu;
  if (function->opcode() == Opcode::kTanh && IsCubic(function->operand(0), x)) match = &kGeluTanh;
  if (match == nullptr) return std::nullopt;
  return Chain(x, *match);
}

// (f(x) + 1) 0.5 + x (exp((x x) -0.5) / sqrt(2 pi)), with the error function.
std::optional<ActivationChain> GeluGradient(Instruction* cdf, Instruction* rest) {
  Instruction* sum = With(cdf, Opcode::kMultiply, 0.5f);
  Instruction* function = sum != nullptr ? With(sum, Opcode::kAdd, 1.0f) : nullptr;
  if (function == nullptr || function->opcode() != Opcode::kErf) return std::nullopt;
  Instruction* x = With(function->operand(0), Opcode::kMultiply, 0.707106781f);
  if (x == nullptr || rest->opcode() != Opcode::kMultiply) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    if (rest->operand(i) != x) continue;
    Instruction* density = With(rest->operand(1 - i), Opcode::kMultiply, 0.398942280f);
    if (density == nullptr || density->opcode() != Opcode::kExp) continue;
    const Instruction* square = With(density->operand(0), Opcode::kMultiply, -0.5f);
    if (square != nullptr && IsProduct(square, x, x)) return Chain(x, kGeluDx);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ActivationChain> RecogniseProduct(std::span<Instruction* const> operands) {
  if (operands.size() != 2 || operands[0]->shape().dtype != DType::kF32) return std::nullopt;
  if (auto chain = Gelu(operands[0], operands[1])) return chain;
  return Gelu(operands[1], operands[0]);
}

std::optional<ActivationChain> RecogniseSum(std::span<Instruction* const> operands) {
  if (operands.size() != 2 || operands[0]->shape().dtype != DType::kF32) return std::nullopt;
  if (auto chain = GeluGradient(operands[0], operands[1])) return chain;
  return GeluGradient(operands[1], operands[0]);
}

std::optional<isa::ActivationFunction> ActivationOf(const Instruction& call) {
  if (call.opcode() != Opcode::kCustomCall) return std::nullopt;
  const std::string& target = call.attributes().custom_call_target;
  for (const Match& match : {kGelu, kGeluDx, kGeluTanh})
    if (target.starts_with(kActivationCall) && target.substr(kActivationCall.size()) == match.name)
      return match.function;
  return std::nullopt;
}

}  // namespace neuron::compiler
