// Chains of elementwise instructions that the chip's Scalar engine computes as one activation.
//
// Only to the same bits: the chain's operations in fp32, each rounding as it stands, are how the
// activation is defined (emulator/kernels/math32.inl.h). So fused or not, results are the same.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "hlo/module.h"
#include "isa/operators.h"

namespace neuron::compiler {

// Inside the compiler such a chain is a custom call of one operand: this name and the function's.
inline constexpr std::string_view kActivationCall = "neuron.activation.";

struct ActivationChain {
  hlo::Instruction* operand = nullptr;
  std::string target;  // of the custom call
};
// Whether an fp32 product, or sum, of these operands ends a chain.
std::optional<ActivationChain> RecogniseProduct(std::span<hlo::Instruction* const> operands);
std::optional<ActivationChain> RecogniseSum(std::span<hlo::Instruction* const> operands);

// The function of such a custom call; nullopt for any other instruction.
std::optional<isa::ActivationFunction> ActivationOf(const hlo::Instruction& call);

}  // namespace neuron::compiler
