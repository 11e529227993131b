// Instructions and their declarations.
//
// An Instruction is an opcode, the engine it is bound to and operands in the order of its
// declaration. An InstructionDef is the declaration: everything else (encoder, disassembler,
// verifier, cost, Python binding, reference page) reads it. A file
// src/isa/instructions/<mnemonic>.cpp defines `extern const InstructionDef kDef_<mnemonic>;`, and
// the build collects the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "isa/access_pattern.h"
#include "isa/operators.h"
#include "isa/target.h"

namespace neuron::isa {

// Numbered by file name order; a container carries the table's hash, so numbers may change.
enum class Opcode : uint16_t {
#define NEURON_ROW(mnemonic) mnemonic,
#include "isa_instructions_rows.inc"
#undef NEURON_ROW
};

enum class Engine : uint8_t {
  kUnknown = 0,
  kTensor = 1,
  kScalar = 2,
  kGpSimd = 3,
  kDma = 4,
  kVector = 5,
  kSync = 6
};
inline constexpr int kNumEngines = 7;
std::string_view EngineName(Engine engine);
constexpr uint8_t Bit(Engine engine) {
  return static_cast<uint8_t>(1u << static_cast<int>(engine));
}

struct RegisterOperand {  // a run-time scalar: its bits are read in the dtype the instruction says
  Register reg = kNoRegister;
  bool operator==(const RegisterOperand&) const = default;
};

// none (an absent optional operand) | tile | immediate number | register | register expression |
// operator | enumerant (its value in the operand's own enum) | text | list of integers
using Operand = std::variant<std::monostate, AccessPattern, double, int64_t, RegisterOperand,
                             Affine, AluOp, ActivationFunction, std::string, std::vector<int64_t>>;

struct SemaphoreUse {
  uint16_t semaphore = 0;
  int32_t value = 0;  // wait: at least this; update: add this
  bool operator==(const SemaphoreUse&) const = default;
};

struct Instruction {
  Opcode opcode{};
  Engine engine = Engine::kUnknown;
  std::vector<Operand> operands;    // as many as the declaration has, plus a variadic tail
  std::vector<SemaphoreUse> waits;  // placed by the compiler's last pass
  std::vector<SemaphoreUse> updates;
  uint32_t source = 0;  // index into Program::sources, 0 = none
  bool operator==(const Instruction&) const = default;
};

enum class OperandKind : uint8_t {
  kTile,          // AccessPattern
  kNumber,        // double
  kInteger,       // int64_t
  kScalarOrTile,  // double | RegisterOperand (fp32 bits) | AccessPattern of one value per partition
  kAffine,        // Affine
  kRegister,      // RegisterOperand
  kAlu,           // AluOp
  kActivation,    // ActivationFunction
  kFlag,          // int64_t 0 or 1
  kText,          // std::string
  kIntegers,      // std::vector<int64_t>
  kTiles,         // variadic tail: any number of tiles, integers, numbers, registers and register
                  // expressions (last operand only)
};
enum class Role : uint8_t { kIn, kOut, kInOut };

// One bit per dtype; the NeuronCore's own dtypes (numbers from 200 on) take the top bits.
using DTypeMask = uint64_t;
constexpr DTypeMask Mask(std::initializer_list<DType> dtypes) {
  DTypeMask mask = 0;
  for (const DType dtype : dtypes) {
    const int number = static_cast<int>(dtype);
    mask |= DTypeMask{1} << (number < 200 ? number : number - 200 + 56);
  }
  return mask;
}
constexpr bool Contains(DTypeMask mask, DType dtype) { return (mask & Mask({dtype})) != 0; }

struct OperandDef {
  std::string_view name;
  OperandKind kind = OperandKind::kTile;
  Role role = Role::kIn;
  uint8_t memories = 0;  // mask of Memory
  DTypeMask dtypes = 0;  // 0: any
  bool optional = false;
  std::string_view doc;
  // Scale rows of MX tensors: groups of four partitions, at 0, 4, 8 or 12 of a quadrant.
  bool scale_rows = false;
};

// What a cost formula may use: the destination's and operands' element counts per partition at
// their run-time values, dtypes, memories, and the generation's named timing parameters.
struct CostInput {
  const Instruction& instruction;
  Target target;
  std::span<const int64_t> elements;    // per operand: elements per partition (0: not a tile)
  std::span<const int64_t> partitions;  // per operand
};

struct InstructionDef {
  std::string_view mnemonic;
  std::string_view summary;  // one line
  std::string_view doc;      // what it computes; paragraphs end with a line break
  uint8_t engines = 0;       // mask of Bit(engine)
  std::span<const OperandDef> operands = {};
  uint8_t max_free_dims = 4;
  Target since = Target::kTrn2;  // the first generation that has it
  // Rules beyond operand kinds, memories and dtypes. A message starts with a label such as
  // "tensor_scalar.alu:". May be null.
  Status (*check)(const Instruction& instruction, Target target) = nullptr;
  // Busy cycles of the executing engine: from this instruction's start to the next one's. Clocks
  // and what a result takes to arrive after that: timing.h.
  double (*cost)(const CostInput& input) = nullptr;
  std::string_view cost_doc = {};  // its formula, N = elements per partition
  bool ours = false;               // an extension of the public ISA
  std::string_view source;         // documentation the row rests on
};

// Where an instruction runs if nothing else is said: Vector if it can, else the first of its
// engines.
Engine DefaultEngine(const InstructionDef& def);

std::span<const InstructionDef* const> InstructionTable();
const InstructionDef& DefOf(Opcode opcode);
std::optional<Opcode> OpcodeFromMnemonic(std::string_view mnemonic);
uint64_t InstructionTableHash();  // of everything that the encoding and the semantics depend on

// Operand `index`, or a monostate where a trailing optional operand was left out.
const Operand& OperandAt(const Instruction& instruction, size_t index);
// The tile / integer at `index`; Requires that it is one. IntegerAt gives `fallback` for an absent
// operand.
const AccessPattern& TileAt(const Instruction& instruction, size_t index);
int64_t IntegerAt(const Instruction& instruction, size_t index, int64_t fallback = 0);

// True if every tile of the instruction holds integers of at most 32 bits or kPred and every
// immediate is a whole number: then arithmetic is 32-bit two's complement and RegisterOperands are
// read as integers (their low 32 bits); otherwise everything is fp32 and registers hold fp32 bits.
bool IsIntegerArithmetic(const Instruction& instruction);

// Every static rule: operand kinds and counts, memories, dtypes, partitions (start 0/32/64/96 by
// count), free dimensions, SBUF/PSUM bounds at maximal counts, and the row's own check.
Status VerifyInstruction(const Instruction& instruction, Target target);

}  // namespace neuron::isa
