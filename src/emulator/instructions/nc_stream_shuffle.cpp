#include <algorithm>
#include <vector>

#include "emulator/decoder.h"

namespace neuron::emulator {
namespace {

struct Shuffle : Operation::Payload {
  std::vector<int64_t> mask;
};

// Quadrant by quadrant, through a copy of its rows: dst may be src.
Status Execute(const Operation& operation, Execution& execution) {
  const auto& mask = operation.as<Shuffle>().mask;
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& src = tiles.tile[1];
  const int64_t bytes = src.elements() * src.shape->element_bytes;
  std::vector<char> quadrant(static_cast<size_t>(32 * bytes));
  for (int64_t first = 0; first < dst.rows(); first += 32) {
    for (int64_t i = 0; i < std::min<int64_t>(32, src.rows() - first); ++i)
      GatherRow(*src.shape, src.row(first + i), 0, src.elements(), &quadrant[i * bytes]);
    for (int64_t i = 0; i < std::min<int64_t>(32, dst.rows() - first); ++i)
      if (mask[i] != 255)
        ScatterRow(*dst.shape, dst.row(first + i), 0, dst.elements(), &quadrant[mask[i] * bytes]);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto shuffle = std::make_unique<Shuffle>();
  shuffle->mask = input.in.Integers("shuffle_mask");
  input.AddTile(op, "dst");
  input.AddTile(op, "src");
  op->execute = Execute;
  op->payload = std::move(shuffle);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_nc_stream_shuffle;
const InstructionSemantics kSemantics_nc_stream_shuffle{Decode};

}  // namespace neuron::emulator
