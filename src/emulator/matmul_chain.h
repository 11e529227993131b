// nc_matmuls that add up one PSUM tile: neighbours, or one that is repeated
// (instructions/nc_matmul.cpp).
#pragma once

#include <span>
#include <vector>

#include "emulator/operation.h"
#include "emulator/packing.h"

namespace neuron::emulator {

bool IsMatmul(const Operation& op);  // an nc_matmul that multiplies
// An nc_matmul that does not read its destination.
bool OverwritesSum(const Operation& op);
// A matmul whose operands are read, and whose sum is kept, where they lie.
bool StartsChain(const Operation& op);
// Adds to the tile of `first`, which starts a chain.
bool ContinuesChain(const Operation& first, const Operation& op);
double MatmulNs(const Operation& op);  // estimate for one host thread

// Whether operands of this matmul may lie packed (packed_tile.h), and that one does: tile `tile` of
// the operation begins with `column` of a packed tile, whose number is `late` if it is a late one.
bool MayReadPacked(const Operation& op);
void ReadPacked(Operation* op, size_t tile, const Packing& packing, int64_t column, int late);

// Same bits as one by one: columns are shared between host threads, K is not.
Status ExecuteChain(std::span<const Operation* const> chain, double estimated_ns,
                    Execution& execution);

// The operands of one matmul at several points of its program.
struct MatmulPieces {
  Tile sum, first_stationary, first_moving;
  std::vector<const char*> stationary, moving;
  Status Add(const Operation& op, const Execution& execution);
};

// A matmul whose repetitions AddUp takes: it adds, and its operands are read where they lie.
bool MayAddUp(const Operation& op);
// Same bits as one by one, in this order.
Status AddUp(const Operation& op, const MatmulPieces& pieces, Execution& execution);

}  // namespace neuron::emulator
