// Elementwise HLO instructions on tiles: which NeuronCore instructions compute each.
#pragma once

#include <span>

#include "compiler/emitter.h"

namespace neuron::compiler {

// An operand on chip. Tiles have the destination's partitions and elements (step 0 repeats).
struct Arg {
  enum class Kind : uint8_t { kTile, kNumber, kRegister };
  Kind kind = Kind::kNumber;
  AccessPattern tile;
  double number = 0;
  Register reg = isa::kNoRegister;

  static Arg OfTile(AccessPattern p);
  static Arg OfNumber(double v);
  static Arg OfRegister(Register r);
  bool is_tile() const { return kind == Kind::kTile; }
  // As operand0 / operand1 of tensor_scalar; a tile must be one value per partition.
  isa::Operand AsScalar() const;
  bool OnePerPartition() const;  // a tile whose free steps are all 0 or counts 1
};

// True if EmitElementwise can compute it: opcode and dtypes.
bool IsEmittable(const hlo::Instruction& op);
// `op` from `args` into `dst`. At least one operand is a tile, except for copies and converts of a
// number. Intermediates are SBUF tiles that live during the call only.
Status EmitElementwise(EmitContext& ctx, const hlo::Instruction& op, const AccessPattern& dst,
                       std::span<const Arg> args);

}  // namespace neuron::compiler
