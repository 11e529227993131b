// A NeuronCore program: what the compiler and the NKI front end make, what a container holds and
// what the emulator executes.
//
// Instructions stand in program order, which gives the result; each is bound to an engine, and the
// engines' queues and semaphores give the time. loop_begin ... loop_end repeat their body with a
// counter register. HBM is reached through `tensors`; which memory each stands for is bound at
// execution by name, and a tensor may carry a register with its byte offset inside that memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "isa/instruction.h"

namespace neuron::isa {

enum class TensorKind : uint8_t {
  kInput,     // bound by name, read only
  kOutput,    // bound by name, wholly written unless aliased
  kInOut,     // bound by name as input and output
  kScalars,   // the packed scalar block: int64 slots, preloaded into registers at start
  kConstant,  // data in the container
  kScratch,   // private to one execution
};

struct TensorDecl {
  std::string name;  // "input0", "output0", "scalars"
  TensorKind kind = TensorKind::kInput;
  int64_t bytes = 0;                   // extent that patterns stay within, from its byte offset
  Register byte_offset = kNoRegister;  // added to every address of this tensor
  uint32_t constant = 0;               // kConstant: index into Program::constants
  bool operator==(const TensorDecl&) const = default;
};

struct RegisterDecl {
  int64_t min = INT64_MIN;   // values outside [min, max] are refused before the run: footprints
  int64_t max = INT64_MAX;   // of patterns are checked with these bounds
  int32_t scalar_slot = -1;  // preloaded from this int64 slot of the scalar block
  bool operator==(const RegisterDecl&) const = default;
};

struct Program {
  std::string name;
  Target target = Target::kTrn2;
  std::vector<TensorDecl> tensors;
  std::vector<RegisterDecl> registers;
  std::vector<std::string> constants;  // bytes
  std::vector<Instruction> instructions;
  std::vector<std::string> sources;  // "mlp.py:41", HLO instruction names; [0] is ""
  std::string metadata;              // the maker's own section: the compiler's signature
  int64_t scalar_slots() const;      // 1 + highest slot any register is loaded from
  bool operator==(const Program&) const = default;
};

// Every instruction verified, loops nested and closed, registers written before they are read,
// tensors in range. The message names the instruction by index, mnemonic and operand.
Status Verify(const Program& program);

// Container: 1,024-byte header (magic, format version, target, table hash, section table,
// checksum), then sections. Loading refuses what fails its checksum (DataLoss) or comes from
// another table or version (FailedPrecondition), and a genuine NEFF with a sentence of its own.
std::string Encode(const Program& program);
StatusOr<Program> Decode(std::string_view bytes);

// Readable text: tensors, registers, instructions with engine, operands, loops indented, cost.
std::string Disassemble(const Program& program);

}  // namespace neuron::isa
