#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

struct Random : Operation::Payload {
  const KernelTable* kernels = nullptr;
  RandomLanes* lanes = nullptr;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& random = operation.as<Random>();
  ResolvedTiles<1> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const int64_t first = operation.tiles[0].pattern->start_partition;
  std::vector<uint32_t> words(static_cast<size_t>(dst.elements()));
  for (int64_t row = 0; row < dst.rows(); ++row) {
    random.lanes->Fill(first + row, words.data(), dst.elements());
    WriteWholeRow(*random.kernels, Domain::kUnsigned, dst, row, words.data());
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto random = std::make_unique<Random>();
  random->kernels = &input.kernels;
  random->lanes = &input.core.random(input.in.instruction().engine);
  input.AddTile(op, "dst");
  op->execute = Execute;
  op->payload = std::move(random);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_rng;
const InstructionSemantics kSemantics_rng{Decode};

}  // namespace neuron::emulator
