#include "emulator/row_order.h"
#include "emulator/whole_row.h"

namespace neuron::emulator {
namespace {

void Largest(const uint32_t* data, int64_t n, const uint32_t*, uint32_t* results, Domain domain) {
  uint32_t keys[8];
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t key = OrderKey(data[i], domain);
    if (found == 8 && key <= keys[7]) continue;
    int64_t at = found < 8 ? found++ : 7;
    for (; at > 0 && keys[at - 1] < key; --at) {
      keys[at] = keys[at - 1];
      results[at] = results[at - 1];
    }
    keys[at] = key;
    results[at] = data[i];
  }
}

Status Decode(const DecodeInput& input, Operation* op) {
  const Domain domain = DomainOf(input.in.Tile("src")->dtype);
  return DecodeWholeRow(input, "src", "", domain, domain, Largest, op);
}

}  // namespace

extern const InstructionSemantics kSemantics_max8;
const InstructionSemantics kSemantics_max8{Decode};

}  // namespace neuron::emulator
