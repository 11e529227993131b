// From isa instructions to operations on one core. See operation.h.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "emulator/kernels/kernels.h"
#include "emulator/operands.h"
#include "emulator/operation.h"

namespace neuron::emulator {

// What an instruction's semantics decode from.
struct DecodeInput {
  const isa::Program& program;
  Core& core;
  const KernelTable& kernels;
  Operands in;

  // Appends the tile at operand `name` (or index) to op->tiles and returns its position there; -1
  // if the operand is absent or no tile.
  int AddTile(Operation* op, std::string_view name) const;
  int AddTile(Operation* op, int operand) const;
};

// One file per instruction, instructions/<mnemonic>.cpp, defines kSemantics_<mnemonic>.
struct InstructionSemantics {
  Status (*decode)(const DecodeInput& input, Operation* op);
};

// The semantics of an opcode; nullptr for control flow, which the executor knows itself.
const InstructionSemantics* SemanticsOf(isa::Opcode opcode);

// Shape of a pattern with its counts at the registers' values (nullptr: at their maximum).
TileShape ShapeOf(const isa::AccessPattern& pattern, int64_t row_pitch, const int64_t* registers);

// Bytes between the rows of a pattern.
int64_t RowPitch(const Core& core, const isa::AccessPattern& pattern);

}  // namespace neuron::emulator
