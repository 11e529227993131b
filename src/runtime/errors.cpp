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
  kOutsideUnitInterval = 5,
  kPlaceOutOfRange = 6,
  kEmptyDistribution = 7,
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

std::string OutOfBounds(int64_t index, int32_t dimension, int32_t size) {
  if (dimension < 0) return StrCat("index ", index, " is out of bounds for ", size, " elements");
  return StrCat("index ", index, " is out of bounds for dimension ", dimension, " with size ",
                size);
}

}  // namespace

void SetOpNamer(OpNamer function) { namer.store(function, std::memory_order_release); }

Status FromErrorRecord(const ErrorRecord& record, const char* op) {
  const auto [code, inner_op, operand, low, high, dimension, size] = record;
  const int64_t index = int64_t{high} << 32 | static_cast<uint32_t>(low);
  const std::string who = Who(op ? op : "", inner_op);
  switch (code) {
    case kNone:
      return OkStatus();
    case kIndexOutOfRange:
      return OutOfRange(who, ": ", OutOfBounds(index, dimension, size), ", in operand ", operand);
    case kPlaceOutOfRange:
      return InvalidArgument(who, ": ", OutOfBounds(index, dimension, size), ", in operand ",
                             operand);
    case kDivisionByZero:
      return InvalidArgument(who, ": integer division by zero (ZeroDivisionError)");
    case kAssert:
      return FailedPrecondition(who, ": assertion failed on the device");
    case kNegativeProbability:
      return InvalidArgument(who,
                             ": probability tensor contains either `inf`, `nan` or element < 0");
    case kEmptyDistribution:
      return InvalidArgument(who, ": invalid multinomial distribution (sum of probabilities <= 0)");
    case kOutsideUnitInterval:
      return InvalidArgument(who, ": all elements of operand ", operand,
                             " should be between 0 and 1");
    default:
      return Internal(who, ": the program reported error ", code, " on operand ", operand,
                      ", index ", index, ", which this version does not know");
  }
}

}  // namespace neuron::runtime
