#include "runtime/errors.h"

#include <atomic>
#include <string>
#include <string_view>

#include "runtime/runtime.h"

namespace neuron::runtime {
namespace {

std::atomic<OpNamer> namer{nullptr};

// Codes of lowering::DataError, which this layer may not include.
enum Code : int32_t {
  kNone = 0,
  kIndexOutOfRange = 1,
  kDivisionByZero = 2,
  kAssert = 3,
  kNegativeProbability = 4,
};

// "aten::embedding", or "graph_0: aten::embedding" where the launch has another name. A variant of
// the row ("aten::gather.out" of "aten::gather") goes by the launch's own name.
std::string Who(std::string_view launch, int32_t op) {
  const OpNamer name = namer.load(std::memory_order_acquire);
  const std::string_view inner = name ? name(op) : std::string_view();
  if (launch.empty()) return inner.empty() ? "neuron" : std::string(inner);
  const std::string_view base = inner.substr(0, inner.find('.'));
  return inner.empty() || launch.starts_with(base) ? std::string(launch)
                                                   : StrCat(launch, ": ", inner);
}

}  // namespace

void SetOpNamer(OpNamer function) { namer.store(function, std::memory_order_release); }

Status FromErrorRecord(const ErrorRecord& record, const char* op) {
  const auto [code, inner_op, operand, low, high] = record;
  const int64_t index = int64_t{high} << 32 | static_cast<uint32_t>(low);
  const std::string who = Who(op ? op : "", inner_op);
  switch (code) {
    case kNone:
      return OkStatus();
    case kIndexOutOfRange:
      return OutOfRange(who, ": index ", index, " is out of range in operand ", operand);
    case kDivisionByZero:
      return InvalidArgument(who, ": integer division by zero, first at element ", index);
    case kAssert:
      return FailedPrecondition(who, ": assertion failed on the device, first at element ", index);
    case kNegativeProbability:
      return InvalidArgument(who,
                             ": probability tensor contains inf, nan or a negative element, "
                             "first at element ",
                             index);
    default:
      return Internal(who, ": the program reported error ", code, " on operand ", operand,
                      ", index ", index, ", which this version does not know");
  }
}

}  // namespace neuron::runtime
