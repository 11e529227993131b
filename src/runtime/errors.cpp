#include "runtime/errors.h"

namespace neuron::runtime {
namespace {

// Codes of lowering::DataError, which this layer may not include.
enum Code : int32_t {
  kNone = 0,
  kIndexOutOfRange = 1,
  kDivisionByZero = 2,
  kAssert = 3,
  kNegativeProbability = 4,
};

}  // namespace

Status FromErrorRecord(ErrorRecord record, const char* op) {
  const auto [code, inner_op, operand, index] =
      std::tuple(record[0], record[1], record[2], record[3]);
  const std::string who =
      StrCat(op == nullptr || *op == '\0' ? "neuron" : op,
             inner_op > 0 ? StrCat(" (op ", inner_op, " of the graph)") : std::string());
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
