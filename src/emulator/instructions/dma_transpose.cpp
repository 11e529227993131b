#include "emulator/indirect.h"
#include "emulator/transpose.h"

namespace neuron::emulator {
namespace {

struct IndirectTranspose : Operation::Payload {
  Indirect indirect;
};

// Row index[r] of src becomes element r of each row of dst.
Status ExecuteIndirect(const Operation& operation, Execution& execution) {
  const auto& indirect = operation.as<IndirectTranspose>();
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& src = tiles.tile[1];
  char values[isa::kPartitions * 4];
  const int64_t size = src.shape->element_bytes;
  for (int64_t row = 0; row < src.rows(); ++row) {
    int64_t offset = 0;
    bool skipped = false;
    NEURON_RETURN_IF_ERROR(
        indirect.indirect.RowOffset(operation, execution, tiles.tile, row, &offset, &skipped));
    if (skipped) continue;
    GatherRow(*src.shape, src.row(row) + offset, 0, src.elements(), values);
    for (int64_t f = 0; f < dst.rows(); ++f)
      ScatterRow(*dst.shape, dst.row(f), row, 1, values + f * size);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  if (!Indirect::Present(input.in)) return DecodeTranspose(input, "dst", "src", op);
  auto transpose = std::make_unique<IndirectTranspose>();
  const int dst = input.AddTile(op, "dst");
  const int src = input.AddTile(op, "src");
  transpose->indirect = Indirect::Decode(input, op, dst, src);
  op->execute = ExecuteIndirect;
  op->payload = std::move(transpose);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_dma_transpose;
const InstructionSemantics kSemantics_dma_transpose{Decode};

}  // namespace neuron::emulator
