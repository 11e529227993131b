#include <algorithm>
#include <cstring>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_order.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kRows = 16;  // of a group

struct TopK : Operation::Payload {
  int64_t n = 0;
};

Status Execute(const Operation& operation, Execution& execution) {
  const int64_t n = operation.as<TopK>().n;
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const auto& [values, indices, src] = tiles.tile;
  const int64_t k = values.elements();
  // Ordered by value, then by falling index: the last k, ascending.
  std::vector<uint64_t> keys(static_cast<size_t>(n));
  std::vector<uint16_t> elements(static_cast<size_t>(n));
  for (int64_t group = 0; group < src.rows(); group += kRows) {
    for (int64_t j = 0; j < n; ++j) {
      GatherRow(*src.shape, src.row(group + j % kRows), j / kRows, 1, &elements[j]);
      const uint32_t order = OrderKey(uint32_t{elements[j]} << 16, Domain::kFloat);
      keys[j] = (uint64_t{order} << 32) | static_cast<uint32_t>(n - 1 - j);
    }
    std::nth_element(keys.begin(), keys.begin() + (n - k), keys.end());
    std::sort(keys.begin() + (n - k), keys.end());
    for (int64_t j = 0; j < k; ++j) {
      const auto at =
          static_cast<uint32_t>(n - 1 - static_cast<int64_t>(keys[n - k + j] & 0xffffffffu));
      const int64_t row = group + j % kRows;
      ScatterRow(*values.shape, values.row(row), j / kRows, 1, &elements[at]);
      ScatterRow(*indices.shape, indices.row(row), j / kRows, 1, &at);
    }
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto topk = std::make_unique<TopK>();
  topk->n = input.in.Integer("n");
  input.AddTile(op, "val_dst");
  input.AddTile(op, "idx_dst");
  input.AddTile(op, "src");
  op->execute = Execute;
  op->payload = std::move(topk);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_topk;
const InstructionSemantics kSemantics_topk{Decode};

}  // namespace neuron::emulator
