// The result shape of each opcode, by XLA's rules. Elementwise operands must have equal dims
// (broadcasts are explicit). Every failure names the op and both shapes.
#pragma once

#include <span>

#include "hlo/module.h"

namespace neuron::hlo {

// Not for constant, parameter, iota, rng, convert, bitcast-convert, reshape, broadcast,
// custom-call, whose shape the caller states: for these `stated` is checked and returned.
StatusOr<Shape> InferShape(Opcode opcode, std::span<const Shape> operands,
                           const Attributes& attributes, std::span<Computation* const> called,
                           const Shape* stated = nullptr);

}  // namespace neuron::hlo
