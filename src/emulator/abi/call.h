// The one wrapper around every exported function, and the process's state behind them.
#pragma once

#include <exception>
#include <memory>
#include <new>

#include "base/status.h"
#include "emulator/machine.h"
#include "nrt/nrt_abi.h"

namespace neuron::emulator::abi {

// What an exported function comes to: an NRT status and, if it failed, why.
struct Outcome {
  NRT_STATUS code = NRT_SUCCESS;
  Status status;

  Outcome() = default;
  Outcome(Status failure);  // NOLINT(google-explicit-constructor): the code nrt::FromStatus gives
  Outcome(NRT_STATUS as, Status failure) : code(as), status(std::move(failure)) {}
};

// Keeps the message for nrt_emulator_last_error and logs it (TORCH_NEURONX_LOG_LEVEL >= 1).
NRT_STATUS Report(const char* function, const Outcome& outcome);
const char* LastError();  // of this thread; "" if none

// Runs `body`, which returns an Outcome or a Status. Exceptions do not cross the ABI.
template <typename Body>
NRT_STATUS Call(const char* function, Body body) noexcept {
  try {
    const Outcome outcome = body();
    if (outcome.code == NRT_SUCCESS) [[likely]]
      return NRT_SUCCESS;
    return Report(function, outcome);
  } catch (const std::bad_alloc&) {
    return Report(function, ResourceExhausted("the host is out of memory"));
  } catch (const std::exception& error) {
    return Report(function, Internal(error.what()));
  }
}

// The machine between nrt_init and nrt_close. Tensors and models keep theirs beyond that.
void SetMachine(std::shared_ptr<Machine> machine);  // nullptr: closed
std::shared_ptr<Machine> CurrentMachine();
// Of the current machine, nullptr if there is none: cheaper than asking that.
const isa::TargetRow* CurrentTarget();
Outcome RequireMachine(std::shared_ptr<Machine>* machine);

}  // namespace neuron::emulator::abi

// Inside a body: leaves it if an Outcome or Status is a failure.
#define NEURON_ABI_RETURN_IF_ERROR(expr)                                                  \
  do {                                                                                    \
    if (::neuron::emulator::abi::Outcome outcome_ = (expr); outcome_.code != NRT_SUCCESS) \
      return outcome_;                                                                    \
  } while (false)
