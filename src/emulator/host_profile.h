// Where the host's time goes: the executing thread's nanoseconds in each instruction, group or
// batch of a loaded program, written to host_profile.<pid>.tsv in the directory that
// TORCHNEURON_HOST_PROFILE names when the process ends. A line per (program, HLO instruction,
// instructions): nanoseconds, executions, and these three; tabs between.
#pragma once

#include <time.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "isa/program.h"

namespace neuron::emulator {

class HostProfile {
 public:
  // nullptr unless the variable is set; lives as long as the process.
  static HostProfile* For(const isa::Program& program);

  explicit HostProfile(const isa::Program& program);

  static int64_t Now() {  // of this thread's processor time
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  }
  // `first` to `last`: one instruction, or the group that was executed.
  void Add(size_t first, size_t last, int64_t start) {
    Entry& entry = entries_[first];
    entry.last = last;
    ++entry.count;
    entry.nanoseconds += Now() - start;
  }
  std::string ToText() const;

 private:
  struct Entry {
    int64_t nanoseconds = 0, count = 0;
    size_t last = 0;
  };
  std::string name_;
  std::vector<std::string> sources_, mnemonics_;  // by instruction
  std::vector<Entry> entries_;                    // by instruction
};

}  // namespace neuron::emulator
