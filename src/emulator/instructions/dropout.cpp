#include <cstring>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/scalar_operand.h"

namespace neuron::emulator {
namespace {

struct Drop : Operation::Payload {
  ScalarOperand prob;
};

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const int64_t first = operation.tiles[0].pattern->start_partition;
  const int64_t n = dst.elements();
  const size_t bytes = static_cast<size_t>(dst.shape->element_bytes);
  RandomLanes& lanes = execution.core->random(isa::Engine::kVector);
  std::vector<uint32_t> words(static_cast<size_t>(n));
  std::vector<char> values(static_cast<size_t>(n) * bytes);
  for (int64_t row = 0; row < dst.rows(); ++row) {
    const float prob = operation.as<Drop>().prob.At(tiles.tile, row, execution.registers);
    lanes.Fill(first + row, words.data(), n);
    GatherRow(*tiles.tile[1].shape, tiles.tile[1].row(row), 0, n, values.data());
    for (int64_t i = 0; i < n; ++i)
      if (Uniform(words[i]) < prob) std::memset(&values[i * bytes], 0, bytes);
    ScatterRow(*dst.shape, dst.row(row), 0, n, values.data());
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto drop = std::make_unique<Drop>();
  input.AddTile(op, "dst");
  input.AddTile(op, "data");
  drop->prob = ScalarOperand::Decode(input, op, "prob");
  op->execute = Execute;
  op->payload = std::move(drop);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_dropout;
const InstructionSemantics kSemantics_dropout{Decode};

}  // namespace neuron::emulator
