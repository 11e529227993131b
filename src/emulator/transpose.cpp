#include "emulator/transpose.h"

#include "emulator/packed_tile.h"
#include "emulator/strided_copy.h"

namespace neuron::emulator {
namespace {

struct Transpose : Movement {
  TileShape swapped;
};

// The same memory with rows as the last free dimension and the free dimensions as rows first.
TileShape Swapped(const TileShape& shape) {
  TileShape flat = shape;
  flat.rows = 1;
  flat.row_stride = 0;
  flat.num_dims = shape.num_dims + 1;
  flat.count[shape.num_dims] = shape.rows;
  flat.stride[shape.num_dims] = shape.row_stride;
  flat.Normalise();
  return flat;
}

Status Execute(const Operation& operation, Execution& execution) {
  const auto& transpose = operation.as<Transpose>();
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  if (transpose.packing != nullptr) {
    FillPacked(operation, *transpose.packing, tiles.tile[1].data, dst.data, execution);
    return OkStatus();
  }
  if (!transpose.dynamic) {
    RunShared(transpose.plan, dst, Tile{tiles.tile[1].data, &transpose.swapped});
    return OkStatus();
  }
  const TileShape swapped = Swapped(*tiles.tile[1].shape);
  RunShared(PlanCopy(*dst.shape, swapped), dst, Tile{tiles.tile[1].data, &swapped});
  return OkStatus();
}

// Bytes become 16-bit elements whose upper byte is 0.
Status ExecuteWidening(const Operation& operation, Execution& execution) {
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& src = tiles.tile[1];
  uint8_t bytes[isa::kPartitions * isa::kPartitions];
  uint16_t row[isa::kPartitions];
  for (int64_t p = 0; p < src.rows(); ++p)
    GatherRow(*src.shape, src.row(p), 0, src.elements(),
              reinterpret_cast<char*>(bytes + p * isa::kPartitions));
  for (int64_t f = 0; f < dst.rows(); ++f) {
    for (int64_t p = 0; p < src.rows(); ++p) row[p] = bytes[p * isa::kPartitions + f];
    ScatterRow(*dst.shape, dst.row(f), 0, dst.elements(), reinterpret_cast<const char*>(row));
  }
  return OkStatus();
}

}  // namespace

bool IsTranspose(const Operation& operation) { return operation.execute == Execute; }

Status DecodeTranspose(const DecodeInput& input, std::string_view to, std::string_view from,
                       Operation* op) {
  auto transpose = std::make_unique<Transpose>();
  input.AddTile(op, to);
  input.AddTile(op, from);
  const TileRef& dst = op->tiles[0];
  const TileRef& src = op->tiles[1];
  transpose->dynamic = dst.dynamic || src.dynamic;
  if (dst.shape.element_bytes == 2 && src.shape.element_bytes == 1) {
    op->execute = ExecuteWidening;
    return OkStatus();
  }
  if (dst.shape.element_bytes != src.shape.element_bytes)
    return Unimplemented(NameOf(*op), ": ", to, " is ", DTypeName(dst.shape.dtype), ", ", from,
                         " is ", DTypeName(src.shape.dtype), "; a transpose only moves bits");
  transpose->swapped = Swapped(src.shape);
  transpose->plan = PlanCopy(dst.shape, transpose->swapped);
  op->execute = Execute;
  op->payload = std::move(transpose);
  return OkStatus();
}

}  // namespace neuron::emulator
