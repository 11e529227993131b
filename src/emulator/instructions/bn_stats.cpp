#include <bit>

#include "emulator/whole_row.h"

namespace neuron::emulator {
namespace {

// Count, mean and variance * count of the even elements, then of the odd ones.
void Statistics(const uint32_t* data, int64_t n, const uint32_t*, uint32_t* results, Domain) {
  for (int64_t parity = 0; parity < 2; ++parity) {
    float count = 0;
    float sum = 0;
    for (int64_t i = parity; i < n; i += 2, count += 1) sum += std::bit_cast<float>(data[i]);
    const float mean = count > 0 ? sum / count : 0;
    float squares = 0;
    for (int64_t i = parity; i < n; i += 2) {
      const float difference = std::bit_cast<float>(data[i]) - mean;
      squares += difference * difference;
    }
    results[3 * parity] = std::bit_cast<uint32_t>(count);
    results[3 * parity + 1] = std::bit_cast<uint32_t>(mean);
    results[3 * parity + 2] = std::bit_cast<uint32_t>(squares);
  }
}

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeWholeRow(input, "data", "", Domain::kFloat, Domain::kFloat, Statistics, op);
}

}  // namespace

extern const InstructionSemantics kSemantics_bn_stats;
const InstructionSemantics kSemantics_bn_stats{Decode};

}  // namespace neuron::emulator
