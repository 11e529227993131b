#include "emulator/row_order.h"
#include "emulator/whole_row.h"

namespace neuron::emulator {
namespace {

// Index of each of 8 values: equal values take ascending positions; all ones if there is none left.
void Find(const uint32_t* data, int64_t n, const uint32_t* vals, uint32_t* results, Domain domain) {
  for (int j = 0; j < 8; ++j) {
    const uint32_t key = OrderKey(vals[j], domain);
    int64_t from = 0;
    for (int earlier = 0; earlier < j; ++earlier)
      if (OrderKey(vals[earlier], domain) == key)
        from = results[earlier] == 0xffffffffu ? n : int64_t{results[earlier]} + 1;
    results[j] = 0xffffffffu;
    for (int64_t i = from; i < n; ++i) {
      if (OrderKey(data[i], domain) != key) continue;
      results[j] = static_cast<uint32_t>(i);
      break;
    }
  }
}

Status Decode(const DecodeInput& input, Operation* op) {
  return DecodeWholeRow(input, "data", "vals", DomainOf(input.in.Tile("data")->dtype),
                        Domain::kUnsigned, Find, op);
}

}  // namespace

extern const InstructionSemantics kSemantics_nc_find_index8;
const InstructionSemantics kSemantics_nc_find_index8{Decode};

}  // namespace neuron::emulator
