#include "isa/instruction.h"

#include <algorithm>
#include <cmath>

#include "isa/row.h"

namespace neuron::isa {
namespace {

const InstructionDef* const kTable[] = {
#define NEURON_ROW(mnemonic) &kDef_##mnemonic,
#include "isa_instructions_rows.inc"
#undef NEURON_ROW
};

// Raised when what an instruction or operator means changes while its declaration stays the same.
constexpr uint64_t kSemanticsVersion = 1;

// FNV-1a over what is fed to it.
class Hasher {
 public:
  void Add(std::string_view text) {
    for (const char c : text) Byte(static_cast<uint8_t>(c));
    Byte(0);
  }
  void Add(uint64_t number) {
    for (int i = 0; i < 8; ++i) Byte(static_cast<uint8_t>(number >> (8 * i)));
  }
  uint64_t value() const { return value_; }

 private:
  void Byte(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  uint64_t value_ = 0xcbf29ce484222325u;
};

uint64_t ComputeTableHash() {
  Hasher hasher;
  hasher.Add(kSemanticsVersion);
  for (const InstructionDef* def : kTable) {
    hasher.Add(def->mnemonic);
    hasher.Add(def->engines);
    hasher.Add(static_cast<uint64_t>(def->since));
    for (const OperandDef& operand : def->operands) {
      hasher.Add(operand.name);
      hasher.Add(static_cast<uint64_t>(operand.kind));
      hasher.Add(static_cast<uint64_t>(operand.role));
    }
  }
  for (const AluRow& row : AluRows()) hasher.Add(row.name);
  for (const ActivationRow& row : ActivationRows()) hasher.Add(row.name);
  return hasher.value();
}

}  // namespace

std::string_view EngineName(Engine engine) {
  switch (engine) {
    case Engine::kUnknown:
      return "unknown";
    case Engine::kTensor:
      return "tensor";
    case Engine::kScalar:
      return "scalar";
    case Engine::kGpSimd:
      return "gpsimd";
    case Engine::kDma:
      return "dma";
    case Engine::kVector:
      return "vector";
    case Engine::kSync:
      return "sync";
  }
  return "?";
}

Engine DefaultEngine(const InstructionDef& def) {
  if ((def.engines & Bit(Engine::kVector)) != 0) return Engine::kVector;
  for (int i = 1; i < kNumEngines; ++i)
    if ((def.engines & Bit(static_cast<Engine>(i))) != 0) return static_cast<Engine>(i);
  return Engine::kUnknown;
}

std::span<const InstructionDef* const> InstructionTable() { return kTable; }

const InstructionDef& DefOf(Opcode opcode) {
  const size_t index = static_cast<size_t>(opcode);
  NEURON_CHECK(index < std::size(kTable), "no instruction has number ", index);
  return *kTable[index];
}

std::optional<Opcode> OpcodeFromMnemonic(std::string_view mnemonic) {
  for (size_t i = 0; i < std::size(kTable); ++i)
    if (kTable[i]->mnemonic == mnemonic) return static_cast<Opcode>(i);
  return std::nullopt;
}

uint64_t InstructionTableHash() {
  static const uint64_t hash = ComputeTableHash();
  return hash;
}

const Operand& OperandAt(const Instruction& instruction, size_t index) {
  static const Operand absent;
  return index < instruction.operands.size() ? instruction.operands[index] : absent;
}

const AccessPattern& TileAt(const Instruction& instruction, size_t index) {
  const auto* tile = std::get_if<AccessPattern>(&OperandAt(instruction, index));
  NEURON_CHECK(tile != nullptr, "operand ", index, " of ", DefOf(instruction.opcode).mnemonic,
               " is no tile");
  return *tile;
}

int64_t IntegerAt(const Instruction& instruction, size_t index, int64_t fallback) {
  const auto* integer = std::get_if<int64_t>(&OperandAt(instruction, index));
  return integer != nullptr ? *integer : fallback;
}

namespace {
// Operators whose results are fractions even of integers, or that are about fp32's own bits.
bool IsOfFloats(AluOp op) {
  return op == AluOp::kRsqrt || op == AluOp::kReciprocal || op == AluOp::kSqrt ||
         op == AluOp::kAtan2 || op == AluOp::kCopysign || op == AluOp::kNextAfter;
}
}  // namespace

bool IsIntegerArithmetic(const Instruction& instruction) {
  return std::all_of(instruction.operands.begin(), instruction.operands.end(),
                     [](const Operand& operand) {
                       if (const auto* immediate = std::get_if<double>(&operand))
                         return std::isfinite(*immediate) && std::trunc(*immediate) == *immediate;
                       if (const auto* op = std::get_if<AluOp>(&operand)) return !IsOfFloats(*op);
                       const auto* tile = std::get_if<AccessPattern>(&operand);
                       return tile == nullptr || tile->dtype == DType::kPred ||
                              (IsInteger(tile->dtype) && ByteSize(tile->dtype) <= 4);
                     });
}

}  // namespace neuron::isa
