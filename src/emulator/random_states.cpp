#include "emulator/random_states.h"

#include <memory>
#include <utility>

namespace neuron::emulator {
namespace {

struct States : Operation::Payload {
  RandomLanes* lanes = nullptr;
  StateTransfer transfer = StateTransfer::kToTile;
};

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<1> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& tile = tiles.tile[0];
  const auto& states = operation.as<States>();
  const int64_t first = operation.tiles[0].pattern->start_partition;
  for (int64_t row = 0; row < tile.rows(); ++row) {
    Xorwow* const lane = states.lanes->lane(first + row);
    if (states.transfer == StateTransfer::kToTile)
      ScatterRow(*tile.shape, tile.row(row), 0, tile.elements(), lane);
    else
      GatherRow(*tile.shape, tile.row(row), 0, tile.elements(), lane);
  }
  return OkStatus();
}

}  // namespace

Status DecodeRandomStates(const DecodeInput& input, Operation* op, std::string_view operand,
                          StateTransfer transfer) {
  auto states = std::make_unique<States>();
  states->lanes = &input.core.random(input.in.instruction().engine);
  states->transfer = transfer;
  input.AddTile(op, operand);
  op->execute = Execute;
  op->payload = std::move(states);
  return OkStatus();
}

}  // namespace neuron::emulator
