#include "emulator/abi/fault.h"

#include <atomic>
#include <charconv>
#include <optional>
#include <string>

#include "base/environment.h"
#include "nrt/status_table.h"

namespace neuron::emulator::abi {
namespace {

struct Fault {
  NRT_STATUS status = NRT_SUCCESS;
  int64_t execution = 0;  // counted from 1; 0: none
};

StatusOr<Fault> Parse() {
  const std::optional<std::string> text = Read(Variable::kFailExecution);
  if (!text) return Fault{};
  int status = 0;
  Fault fault{.execution = 1};
  const char* const end = text->data() + text->size();
  auto [next, error] = std::from_chars(text->data(), end, status);
  bool good = error == std::errc();
  if (good && next != end) {
    good = *next == '@';
    if (good) {
      const auto [rest, bad] = std::from_chars(next + 1, end, fault.execution);
      good = bad == std::errc() && rest == end && fault.execution >= 1;
    }
  }
  fault.status = static_cast<NRT_STATUS>(status);
  if (!good || status == NRT_SUCCESS || !nrt::IsStatus(fault.status))
    return InvalidArgument(RowOf(Variable::kFailExecution).name, " is '", *text,
                           "'; expected STATUS or STATUS@N with the number of an NRT status, such "
                           "as 1003@5");
  return fault;
}

}  // namespace

Status CheckFault() { return Parse().status(); }

NRT_STATUS FaultOfExecution() {
  static const StatusOr<Fault> fault = Parse();
  if (!fault.ok() || fault->execution == 0) [[likely]]
    return NRT_SUCCESS;
  static std::atomic<int64_t> executions{0};
  return ++executions == fault->execution ? fault->status : NRT_SUCCESS;
}

}  // namespace neuron::emulator::abi
