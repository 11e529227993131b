#include "emulator/decoder.h"

namespace neuron::emulator {
namespace {

struct States : Operation::Payload {
  RandomLanes* lanes = nullptr;
};

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<1> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& tile = tiles.tile[0];
  const int64_t first = operation.tiles[0].pattern->start_partition;
  for (int64_t row = 0; row < tile.rows(); ++row) {
    Xorwow* const lane = operation.as<States>().lanes->lane(first + row);
    ScatterRow(*tile.shape, tile.row(row), 0, tile.elements(), lane);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto states = std::make_unique<States>();
  states->lanes = &input.core.random(input.in.instruction().engine);
  input.AddTile(op, "dst");
  op->execute = Execute;
  op->payload = std::move(states);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_rand_get_state;
const InstructionSemantics kSemantics_rand_get_state{Decode};

}  // namespace neuron::emulator
