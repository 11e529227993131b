#include <bit>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"
#include "emulator/scalar_operand.h"

namespace neuron::emulator {
namespace {

struct Range : Operation::Payload {
  const KernelTable* kernels = nullptr;
  ScalarOperand min, max;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& range = operation.as<Range>();
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const int64_t first = operation.tiles[0].pattern->start_partition;
  RandomLanes& lanes = execution.core->random(isa::Engine::kVector);
  std::vector<uint32_t> words(static_cast<size_t>(dst.elements()));
  for (int64_t row = 0; row < dst.rows(); ++row) {
    const float min = range.min.At(tiles.tile, row, execution.registers);
    const float width = range.max.At(tiles.tile, row, execution.registers) - min;
    lanes.Fill(first + row, words.data(), dst.elements());
    for (uint32_t& word : words) word = std::bit_cast<uint32_t>(min + Uniform(word) * width);
    WriteWholeRow(*range.kernels, Domain::kFloat, dst, row, words.data());
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto range = std::make_unique<Range>();
  range->kernels = &input.kernels;
  input.AddTile(op, "dst");
  range->min = ScalarOperand::Decode(input, op, "min");
  range->max = ScalarOperand::Decode(input, op, "max");
  op->execute = Execute;
  op->payload = std::move(range);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_rand2;
const InstructionSemantics kSemantics_rand2{Decode};

}  // namespace neuron::emulator
