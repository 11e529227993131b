#include "emulator/operands.h"

namespace neuron::emulator {
namespace {
const isa::Operand kAbsent = std::monostate{};
}

int Operands::Find(std::string_view name) const {
  for (size_t i = 0; i < def_.operands.size(); ++i)
    if (def_.operands[i].name == name) return static_cast<int>(i);
  return -1;
}

const isa::Operand& Operands::operator[](std::string_view name) const {
  const int index = Find(name);
  if (index < 0 || index >= static_cast<int>(instruction_.operands.size())) return kAbsent;
  return instruction_.operands[index];
}

bool Operands::Has(std::string_view name) const {
  return !std::holds_alternative<std::monostate>((*this)[name]);
}

const isa::AccessPattern* Operands::Tile(std::string_view name) const {
  return std::get_if<isa::AccessPattern>(&(*this)[name]);
}

int64_t Operands::Integer(std::string_view name, int64_t otherwise) const {
  const isa::Operand& operand = (*this)[name];
  if (const auto* integer = std::get_if<int64_t>(&operand)) return *integer;
  if (const auto* number = std::get_if<double>(&operand)) return static_cast<int64_t>(*number);
  return otherwise;
}

double Operands::Number(std::string_view name, double otherwise) const {
  const isa::Operand& operand = (*this)[name];
  if (const auto* number = std::get_if<double>(&operand)) return *number;
  if (const auto* integer = std::get_if<int64_t>(&operand)) return static_cast<double>(*integer);
  return otherwise;
}

bool Operands::Flag(std::string_view name, bool otherwise) const {
  return Integer(name, otherwise ? 1 : 0) != 0;
}

isa::AluOp Operands::Alu(std::string_view name, isa::AluOp otherwise) const {
  const auto* op = std::get_if<isa::AluOp>(&(*this)[name]);
  return op != nullptr ? *op : otherwise;
}

std::vector<int64_t> Operands::Integers(std::string_view name) const {
  const auto* list = std::get_if<std::vector<int64_t>>(&(*this)[name]);
  return list != nullptr ? *list : std::vector<int64_t>{};
}

}  // namespace neuron::emulator
