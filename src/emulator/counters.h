// What a device has done, for tests of honesty and for the profiler.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "isa/instruction.h"

namespace neuron::emulator {

struct Counters {
  static constexpr int kMaxOpcodes = 128;

  std::array<int64_t, kMaxOpcodes> instructions{};  // by opcode
  int64_t tensor_multiplies = 0;                    // products formed by the Tensor engine
  int64_t dma_bytes_read = 0, dma_bytes_written = 0;
  int64_t executions = 0;

  void Add(const Counters& other);
  std::string ToJson() const;
};

}  // namespace neuron::emulator
