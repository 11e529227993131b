// tensor_reduce of whole rows in fp32, as groups see it.
#pragma once

#include "emulator/operation.h"

namespace neuron::emulator {

struct RowReductionParts {
  isa::AluOp op{};
  bool negate = false;
  int64_t kept = 1;  // rows that lie on each partition
};

// Whether the operation is a tensor_reduce from tiles[1], [P, kept, N], to tiles[0], [P, kept].
bool AsRowReduction(const Operation& operation, RowReductionParts* parts);

}  // namespace neuron::emulator
