#include <bit>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"
#include "emulator/row_order.h"

namespace neuron::emulator {
namespace {

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& ids = tiles.tile[1];
  const int64_t n = ids.elements();
  // Bounds are exact in either type: rows are shorter than 2^24.
  std::vector<uint32_t> buffer, bounds(static_cast<size_t>(2 * n));
  const Domain from = DomainOf(ids.shape->dtype);
  const uint32_t* id = ReadWholeRow(Kernels(), from, ids, 0, &buffer);
  const bool to_float = DomainOf(dst.shape->dtype) == Domain::kFloat;
  const auto put = [&](int64_t at, int64_t value) {
    bounds[at] = to_float ? std::bit_cast<uint32_t>(static_cast<float>(value))
                          : static_cast<uint32_t>(value);
  };
  const uint32_t padding = OrderKey(0, from);
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    const uint32_t key = OrderKey(id[begin], from);
    for (end = begin + 1; end < n && OrderKey(id[end], from) == key;) ++end;
    for (int64_t i = begin; i < end; ++i) {
      put(i, key == padding ? n : begin);
      put(n + i, key == padding ? -1 : end);
    }
  }
  WriteWholeRow(Kernels(), to_float ? Domain::kFloat : Domain::kSigned, dst, 0, bounds.data());
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  input.AddTile(op, "dst");
  input.AddTile(op, "segment_ids");
  op->execute = Execute;
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_sequence_bounds;
const InstructionSemantics kSemantics_sequence_bounds{Decode};

}  // namespace neuron::emulator
