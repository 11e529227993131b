// Operands of an instruction by the names of its declaration, so that semantics read like the
// reference and do not depend on the order of operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "isa/instruction.h"

namespace neuron::emulator {

class Operands {
 public:
  explicit Operands(const isa::Instruction& instruction)
      : instruction_(instruction), def_(isa::DefOf(instruction.opcode)) {}

  const isa::Instruction& instruction() const { return instruction_; }
  const isa::InstructionDef& def() const { return def_; }

  // Index of a declared operand; -1 if the declaration has none of that name.
  int Find(std::string_view name) const;
  // The operand, or std::monostate if it is absent or not declared.
  const isa::Operand& operator[](std::string_view name) const;
  bool Has(std::string_view name) const;
  const isa::AccessPattern* Tile(std::string_view name) const;  // nullptr: no tile there

  // Each returns `otherwise` for an absent operand.
  int64_t Integer(std::string_view name, int64_t otherwise = 0) const;
  double Number(std::string_view name, double otherwise = 0) const;
  bool Flag(std::string_view name, bool otherwise = false) const;
  isa::AluOp Alu(std::string_view name, isa::AluOp otherwise = isa::AluOp::kBypass) const;
  std::vector<int64_t> Integers(std::string_view name) const;

 private:
  const isa::Instruction& instruction_;
  const isa::InstructionDef& def_;
};

}  // namespace neuron::emulator
