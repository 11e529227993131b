// A kernel's programs loaded through NRT, run on host arrays: what nki.simulate stands on.
//
// Each run allocates device tensors for the arguments, writes, executes, reads back and frees.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "isa/core_programs.h"
#include "nrt/loader.h"

namespace neuron::nki {

struct Binding {
  std::string name;
  void* data = nullptr;
  size_t bytes = 0;
  bool input = false;   // written to the device before the run
  bool output = false;  // read back after it
};

class Executable {
 public:
  // Loads the process's NRT library at the first call. `core` counts among the visible ones.
  // One program per physical core of the logical core.
  static StatusOr<std::unique_ptr<Executable>> Load(std::span<const isa::Program> programs,
                                                    int core);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Modelled duration in picoseconds; -1 where the library does not model time.
  StatusOr<int64_t> Run(std::span<const Binding> bindings);

  // Modelled duration of the last run, or of a program whose time depends on no run-time extent
  // before its first; 0 where it is not known.
  int64_t DurationPs() const;

  // The last run's instructions on the modelled time line, as nrt_emulator_trace gives them; ""
  // where the library has none.
  std::string TraceJson() const;

 private:
  Executable(const nrt::Library& nrt, nrt_model_t* model, int core)
      : nrt_(nrt), model_(model), core_(core) {}

  const nrt::Library& nrt_;
  nrt_model_t* const model_;
  const int core_;
};

}  // namespace neuron::nki
