// A program loaded onto a core: decoded once, executed many times.
//
// Not thread safe by itself: hold the core's mutex while executing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "emulator/batch.h"
#include "emulator/core_races.h"
#include "emulator/group.h"
#include "emulator/host_profile.h"
#include "emulator/operation.h"
#include "emulator/scoreboard.h"
#include "emulator/shadow.h"
#include "emulator/shared_loop.h"
#include "emulator/step.h"
#include "emulator/sum_loop.h"

namespace neuron::emulator {

// What an instruction is to the executor.
struct Step {
  StepControl control;
  int64_t hbm_read = 0, hbm_written = 0;  // bytes of a DMA, at maximal counts
  bool dma = false, dynamic = false;
  const Group* group = nullptr;        // that begins here
  const Group* loop_body = nullptr;    // of a loop_begin: all of its body (group_loop.h)
  const Batch* batch = nullptr;        // that begins here
  const SharedLoop* shared = nullptr;  // of a loop_begin
  const SumLoop* sums = nullptr;       // of a loop_begin
  Operation operation;
};

class LoadedProgram {
 public:
  // Verifies and decodes. Constants and scratch tensors take HBM of the core until destruction.
  static StatusOr<std::unique_ptr<LoadedProgram>> Load(isa::Program program, Core& core);
  // The same program for execution instruction by instruction, on this one's constants and scratch
  // tensors, which it must not outlive.
  StatusOr<std::unique_ptr<LoadedProgram>> WithoutGroups() const;
  ~LoadedProgram();

  const isa::Program& program() const { return program_; }
  Core& core() { return core_; }

  const std::vector<Step>& steps() const { return steps_; }
  // Whether instructions are executed together or in another form than one by one.
  bool has_groups() const { return has_groups_; }

  // Checks and takes what the scalar block says, and fills in what Execute says of `bound`.
  Status Prepare(std::span<BoundTensor> bound);
  // Runs with bound[t] as tensor t: entries of kind input, output, in-out and scalars are the
  // caller's, the others are filled in here. Adds to the core's virtual clock.
  Status Execute(std::span<BoundTensor> bound, Counters* counters);

  // The same in parts, for a program that meets the other core's: Begin, then Resume until it has
  // ended, with the meetings between carried out by the caller.
  Status Begin(std::span<BoundTensor> bound, Counters* counters);
  Status Resume();
  // The sendrecv or core_barrier that execution stands at; nullptr: it has ended.
  const Step* meeting() const { return pc_ < steps_.size() ? &steps_[pc_] : nullptr; }
  void PassMeeting() { ++pc_; }
  const Execution& execution() const { return execution_; }
  // What this program did to HBM since the log was cleared; nullptr unless memory is checked.
  AccessLog* log() { return shadow_ != nullptr ? &log_ : nullptr; }

  // Modelled duration of the last execution; before the first, of one that does not depend on
  // run-time extents, else 0.
  int64_t last_duration_ps();
  // Events of the last execution (scoreboard.h).
  std::string TraceJson(size_t max_events, std::span<const double> released_ns = {}, int core = 0);
  // The last execution's meetings in modelled time, or of one that does not depend on extents.
  Scoreboard::Meetings Meetings(std::span<const double> released_ns) {
    return scoreboard_.Walk(initial_.empty() ? registers_.data() : initial_.data(), released_ns);
  }

 private:
  LoadedProgram(isa::Program program, Core& core)
      : program_(std::move(program)), core_(core), scoreboard_(program_) {}
  Status PrepareTensors();
  Status Decode(bool groups);
  void FormGroups();
  // Instructions from *next to `last`, or to a meeting, at which *next then stands.
  Status Run(Execution& execution, size_t last, size_t* next);
  Status SetRegister(const Step& step, int64_t value, const Execution& execution) const;
  Status EnterLoop(const Step& step, const Execution& execution, bool* runs) const;
  // Instructions [first, last) were executed together, `times` times.
  void Count(size_t first, size_t last, int64_t times, const Execution& execution) const;
  // The loop that has just been entered, as a whole; false if it is to be walked.
  bool RunLoop(const Step& step, const Execution& execution);
  // The same by threads that share its iterations; *done is false if it is to be walked.
  Status RunSums(const SumLoop& loop, Execution& execution, bool* done);
  Status RunShared(const SharedLoop& loop, const Execution& execution, bool* done);
  Status RunIterations(const SharedLoop& loop, const LoopRange& range, int64_t first, int64_t last,
                       Execution execution, std::vector<int64_t>* registers);
  LoopRange RangeOf(const Step& step, const Execution& execution) const;
  Status RunRegisterAlu(const Step& step, const Execution& execution) const;
  Status RunRegisterLoad(const Step& step, const Execution& execution) const;

  const isa::Program program_;
  Core& core_;
  std::vector<Step> steps_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<std::unique_ptr<SharedLoop>> shared_loops_;
  std::vector<std::unique_ptr<SumLoop>> sum_loops_;
  bool has_groups_ = false;
  std::vector<int64_t> registers_;
  std::vector<int64_t> initial_;    // registers at the start of the last execution
  std::vector<int64_t> loop_end_;   // by register: the bound its loop was entered with
  std::vector<const char*> late_;   // by late tile (packed_tile.h)
  std::vector<BoundTensor> own_;    // by tensor: constants and scratch
  Execution execution_;             // between Begin and the end
  size_t pc_ = 0;                   // where Resume goes on
  std::unique_ptr<Shadow> shadow_;  // if memory is checked
  AccessLog log_;
  std::vector<Hbm::Block> blocks_;
  int scalars_ = -1;    // index of the scalar block among the tensors
  int perturbed_ = -1;  // opcode whose results are made wrong
  Scoreboard scoreboard_;
  int64_t last_duration_ps_ = -1;
  HostProfile* profile_ = nullptr;
};

}  // namespace neuron::emulator
