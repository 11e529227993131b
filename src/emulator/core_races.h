// Accesses of two cores to the HBM they share that no meeting orders. For TORCHNEURON_CHECK_MEMORY.
//
// What a core does between two meetings is unordered with what the other does between the same two.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "emulator/operation.h"

namespace neuron::emulator {

class AccessLog {
 public:
  struct Access {
    const char* begin = nullptr;
    const char* end = nullptr;
    uint32_t instruction = 0;
    bool write = false;
  };

  void Record(const Operation& operation, const Execution& execution);
  void Clear() { accesses_.clear(); }
  // Sorted by address.
  const std::vector<Access>& Sorted();

 private:
  std::vector<Access> accesses_;
};

// FailedPrecondition if the two logs hold overlapping accesses of which one writes.
Status CheckCoreRaces(const isa::Program& first_program, AccessLog& first,
                      const isa::Program& second_program, AccessLog& second);

}  // namespace neuron::emulator
