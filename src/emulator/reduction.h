// The one order in which a row is reduced (docs/design): chunks of 4096 elements; inside a chunk 16
// lanes, lane l taking elements l, l + 16, ...; lanes combined l with l + 8, l + 4, l + 2, l + 1;
// the chunks' results reduced as a row of their own. Lanes start at the operator's identity.
#pragma once

#include <cstdint>

#include "emulator/kernels/kernels.h"

namespace neuron::emulator {

inline constexpr int64_t kReduceChunk = 4096;

uint32_t ReduceIdentity(Domain domain, isa::AluOp op);

class RowReduction {
 public:
  static bool Supports(const KernelTable& kernels, Domain domain, isa::AluOp op);

  RowReduction(const KernelTable& kernels, Domain domain, isa::AluOp op);
  // The row's next n values (32 bits each). All calls but the last pass a divisor of 4096 that is a
  // multiple of 16, always the same.
  void Add(const void* values, int64_t n);
  uint32_t Finish();  // the result's bits

 private:
  void Reset(uint32_t* lanes) const;
  uint32_t Fold(uint32_t* lanes) const;

  const ReduceKernel reduce_;
  const BinaryKernel combine_;
  const uint32_t identity_;
  alignas(64) uint32_t lanes_[kReduceLanes];
  alignas(64) uint32_t chunks_[kReduceLanes];
  int64_t in_chunk_ = 0;
  int64_t chunks_done_ = 0;
};

}  // namespace neuron::emulator
