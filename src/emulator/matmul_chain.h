// nc_matmuls that follow each other and add up one PSUM tile (instructions/nc_matmul.cpp).
#pragma once

#include <span>

#include "emulator/operation.h"

namespace neuron::emulator {

bool IsMatmul(const Operation& op);  // an nc_matmul that multiplies
// An nc_matmul that does not read its destination.
bool OverwritesSum(const Operation& op);
// A matmul whose operands are read, and whose sum is kept, where they lie.
bool StartsChain(const Operation& op);
// Adds to the tile of `first`, which starts a chain.
bool ContinuesChain(const Operation& first, const Operation& op);
double MatmulNs(const Operation& op);  // estimate for one host thread

// Same bits as one by one: columns are shared between host threads, K is not.
Status ExecuteChain(std::span<const Operation* const> chain, double estimated_ns,
                    Execution& execution);

}  // namespace neuron::emulator
