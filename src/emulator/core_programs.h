// The programs of a logical core, executed: one, or two that run until they meet.
//
// The two physical cores have SBUF, PSUM and engines of their own and share HBM. Between meetings
// (sendrecv, core_barrier) the first core's program runs before the second's: what they do to the
// same bytes without a meeting between has this order here and none on the chip. If one waits for a
// meeting that the other does not come to, execution ends with an error that names both.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "emulator/group_check.h"
#include "emulator/program.h"

namespace neuron::emulator {

class CorePrograms {
 public:
  // Programs of one logical core, in the order of its physical cores; `first` is the first of
  // these.
  static StatusOr<std::unique_ptr<CorePrograms>> Load(std::vector<isa::Program> programs,
                                                      Core& first);

  size_t size() const { return programs_.size(); }
  const isa::Program& program(size_t core) const { return programs_[core]->program(); }

  // bound[core][tensor]: see LoadedProgram::Execute.
  Status Execute(std::span<std::vector<BoundTensor>> bound, Counters* counters);

  int64_t last_duration_ps();  // until both cores have ended
  std::string TraceJson(size_t max_events);

 private:
  CheckedRun WayToRun(std::span<std::vector<BoundTensor>> bound);
  Status ExecuteOnce(std::span<std::vector<BoundTensor>> bound, Counters* counters);
  Status Run(std::span<std::vector<BoundTensor>> bound, Counters* counters);
  Status Meet(const Step& first, const Step& second);
  void Time();  // of the last execution

  std::vector<std::unique_ptr<LoadedProgram>> programs_;
  std::vector<double> released_ns_;       // when each meeting begins: both have come
  int64_t duration_ps_ = -1;              // of two programs
  std::unique_ptr<CorePrograms> singly_;  // without groups, if they are to be compared
};

}  // namespace neuron::emulator
