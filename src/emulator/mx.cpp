#include "emulator/mx.h"

#include <cmath>
#include <limits>

#include "base/status.h"

namespace neuron::emulator {

float MxScale(uint8_t byte) {
  if (byte == kMxNaN) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, byte - 127);
}

DType MxElement(DType packed) {
  switch (packed) {
    case DType::kF8E5M2X4:
      return DType::kF8E5M2;
    case DType::kF8E4M3FNX4:
      return DType::kF8E4M3FN;
    case DType::kF4E2M1FNX4:
      return DType::kF4E2M1FN;
    default:
      break;
  }
  NEURON_CHECK(false, "no packed dtype: ", DTypeName(packed));
}

int MxMaxExponent(DType packed) {
  switch (packed) {
    case DType::kF8E5M2X4:
      return 15;
    case DType::kF8E4M3FNX4:
      return 8;
    default:
      return 2;
  }
}

float MxValue(DType packed, uint32_t bits, int lane) {
  if (packed != DType::kF4E2M1FNX4)
    return Float8ToFloat(MxElement(packed), static_cast<uint8_t>(bits >> (8 * lane)));
  // e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; no infinity, no NaN.
  constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const uint32_t nibble = (bits >> (4 * lane)) & 0xfu;
  const float magnitude = kMagnitudes[nibble & 7u];
  return (nibble & 8u) != 0 ? -magnitude : magnitude;
}

}  // namespace neuron::emulator
