// The machine's time line while a program is walked: when each engine, DMA queue and piece of
// memory is free again. In nanoseconds from the program's start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "isa/program.h"

namespace neuron::emulator {

class Timeline {
 public:
  struct Access {
    const isa::AccessPattern* pattern = nullptr;
    bool reads = false, writes = false;
  };

  explicit Timeline(const isa::Program& program);

  // An instruction that keeps `engine` busy for busy_ns; a DMA moves hbm_bytes. It begins no sooner
  // than not_before_ns; returns when it could have begun but for that.
  double Issue(uint32_t instruction, isa::Engine engine, double busy_ns, int64_t hbm_bytes,
               const std::vector<Access>& accesses, const int64_t* registers,
               double not_before_ns = 0);
  double end_ns() const { return end_; }
  // Moves everything to `by` later: iterations that were not walked.
  void Shift(double by);

  void Record(size_t max_events) { max_events_ = max_events; }
  bool recording() const { return max_events_ > 0; }
  std::string EventsJson(int core) const;

 private:
  // When a piece of memory was last written (with its writer's engine) and last read since.
  struct Cell {
    double written = 0, read = 0;
    int8_t writer = -1;
  };
  // Cells of one address range, each from its key to the next: neighbouring tiles stay apart,
  // however their edges are aligned.
  using Cells = std::map<int64_t, Cell>;
  struct Event {
    uint32_t instruction;
    isa::Engine engine;
    int queue;
    double start, end;
  };

  // Calls visit(cells, bytes) for what a pattern touches: of each quadrant on chip, of the tensor.
  template <typename Visit>
  void ForEachRange(const isa::AccessPattern& pattern, const int64_t* registers, Visit visit);
  // Moves `moving` ns worth of bytes through the HBM, from `start` on, where others leave room;
  // returns the end. None of the transfers to come starts before `horizon`.
  double MoveBytes(double start, double moving, double horizon);
  double Ready(const Access& access, int engine, const int64_t* registers);
  void Note(const Access& access, int engine, double busy_until, double arrives,
            const int64_t* registers);

  const isa::Program& program_;
  const isa::TargetRow& target_;
  double arrival_[isa::kNumEngines] = {};
  double engine_free_[isa::kNumEngines] = {};
  std::vector<double> queue_free_;
  // When the HBM is taken, in order, with room between: a transfer that waits for its operands
  // keeps none of the room before it.
  struct Interval {
    double begin, end;
  };
  std::vector<Interval> bandwidth_;
  double triggered_ = 0;  // when the next transfer can be triggered, if none had to wait before
  double end_ = 0;
  std::vector<Cells> sbuf_, psum_;  // by quadrant
  std::vector<Cells> hbm_;          // by tensor; empty for tensors that nothing writes
  size_t max_events_ = 0;
  std::vector<Event> events_;
};

}  // namespace neuron::emulator
