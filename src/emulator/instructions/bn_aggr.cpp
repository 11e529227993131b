#include <bit>

#include "emulator/whole_row.h"

namespace neuron::emulator {
namespace {

// Triples (count, mean, variance * count) to mean and variance of all of them.
void Aggregate(const uint32_t* data, int64_t n, const uint32_t*, uint32_t* results, Domain) {
  const auto at = [&](int64_t i) { return std::bit_cast<float>(data[i]); };
  float count = 0;
  float sum = 0;
  for (int64_t i = 0; i < n; i += 3) {
    count += at(i);
    sum += at(i) * at(i + 1);
  }
  const float mean = sum / count;
  float squares = 0;
  for (int64_t i = 0; i < n; i += 3) {
    const float difference = at(i + 1) - mean;
    squares += at(i + 2) + at(i) * (difference * difference);
  }
  results[0] = std::bit_cast<uint32_t>(mean);
  results[1] = std::bit_cast<uint32_t>(squares / count);
}

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeWholeRow(input, "data", "", Domain::kFloat, Domain::kFloat, Aggregate, op);
}

}  // namespace

extern const InstructionSemantics kSemantics_bn_aggr;
const InstructionSemantics kSemantics_bn_aggr{Decode};

}  // namespace neuron::emulator
