// How long the chip would take for a program: engine queues in order, data hazards, DMA.
//
// Each engine issues its instructions in program order; an instruction starts when its engine is
// free and what it reads and overwrites is settled. Hazards are found from the bytes that operands
// touch: they stand for the semaphores that a compiler places. DMA transfers go to the earliest
// free of a few queues and share the HBM's bandwidth. All latencies come from isa (timing.h,
// target.h). Loops are simulated until their iterations take equal time, then extrapolated.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isa/program.h"

namespace neuron::emulator {

class Scoreboard {
 public:
  explicit Scoreboard(const isa::Program& program);
  ~Scoreboard();

  // Duration of one cold execution alone. `registers` are those that the program starts with; only
  // the ones that counts and loop bounds depend on matter, and results are remembered by them.
  int64_t DurationPs(const int64_t* registers);
  // True if no duration depends on the registers.
  bool is_static() const { return control_.empty(); }

  // Of a program that meets another core's (sendrecv, core_barrier): the k-th meeting begins no
  // sooner than released_ns[k], where that is given.
  struct Meetings {
    double end_ns = 0;
    std::vector<double> arrivals_ns;  // when this core comes to each
  };
  Meetings Walk(const int64_t* registers, std::span<const double> released_ns);

  // The instructions of that execution, at most `max_events`, in Chrome's trace-event format
  // (complete events, microseconds; a row per engine and DMA queue), with fields of our own:
  // [{"name": "tensor_tensor", "ph": "X", "ts": 0.000000, "dur": 0.000010, "pid": 0, "tid": 5,
  //   "instruction": 3, "mnemonic": "tensor_tensor", "engine": "vector", "queue": 0,
  //   "start_ps": 0, "end_ps": 10, "source": "mlp.py:41", "core": 0}, ...]
  std::string TraceJson(const int64_t* registers, size_t max_events,
                        std::span<const double> released_ns = {}, int core = 0);

 private:
  struct Node;    // an instruction, prepared
  class Machine;  // the state of a simulation

  void Prepare();

  const isa::Program& program_;
  std::vector<isa::Register> control_;  // preloaded registers that durations depend on
  std::vector<Node> nodes_;             // by instruction; made at first use
  std::map<std::vector<int64_t>, int64_t> known_;
  int64_t static_ps_ = -1;
};

}  // namespace neuron::emulator
