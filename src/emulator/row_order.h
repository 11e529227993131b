// The order in which max8 and nc_find_index8 see values: NaN above all others.
#pragma once

#include <bit>
#include <cstdint>

#include "emulator/kernels/kernels.h"

namespace neuron::emulator {

// A key that orders the 32-bit values of a domain as unsigned integers. Equal values have equal
// keys (-0 and +0, all NaNs).
inline uint32_t OrderKey(uint32_t bits, Domain domain) {
  if (domain == Domain::kUnsigned) return bits;
  if (domain == Domain::kSigned) return bits ^ 0x80000000u;
  const float x = std::bit_cast<float>(bits);
  if (x != x) return 0xffffffffu;
  if (x == 0) return 0x80000000u;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

}  // namespace neuron::emulator
