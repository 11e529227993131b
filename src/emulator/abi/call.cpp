#include "emulator/abi/call.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>

#include "base/environment.h"
#include "nrt/status_table.h"

namespace neuron::emulator::abi {
namespace {

std::string& ThreadError() {
  thread_local std::string message;
  return message;
}

struct State {
  std::mutex mutex;
  std::shared_ptr<Machine> machine;
  std::atomic<const isa::TargetRow*> target{nullptr};
  bool closed = false;
};
State& GlobalState() {
  static State* const state = new State;  // outlives every static destructor
  return *state;
}

}  // namespace

Outcome::Outcome(Status failure) : status(std::move(failure)) {
  if (!status.ok()) code = nrt::FromStatus(status);
}

NRT_STATUS Report(const char* function, const Outcome& outcome) {
  ThreadError() = StrCat(function, ": ", outcome.status.message());
  static const int64_t level = ReadInteger(Variable::kLogLevel).value_or(0);
  if (level >= 1)
    std::fprintf(stderr, "torchneuron emulator: %s (%s)\n", ThreadError().c_str(),
                 std::string(nrt::StatusName(outcome.code)).c_str());
  return outcome.code;
}

const char* LastError() { return ThreadError().c_str(); }

void SetMachine(std::shared_ptr<Machine> machine) {
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  state.closed = machine == nullptr;
  state.target = machine == nullptr ? nullptr : &isa::RowOf(machine->config().target);
  state.machine = std::move(machine);
}

const isa::TargetRow* CurrentTarget() {
  return GlobalState().target.load(std::memory_order_relaxed);
}

std::shared_ptr<Machine> CurrentMachine() {
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  return state.machine;
}

Outcome RequireMachine(std::shared_ptr<Machine>* machine) {
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  *machine = state.machine;
  if (state.machine != nullptr) return {};
  if (state.closed) return {NRT_CLOSED, FailedPrecondition("called after nrt_close")};
  return {NRT_UNINITIALIZED, FailedPrecondition("called before nrt_init")};
}

}  // namespace neuron::emulator::abi
