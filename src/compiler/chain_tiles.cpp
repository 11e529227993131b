#include "compiler/chain_tiles.h"

namespace neuron::compiler {

AccessPattern Columns(AccessPattern p, int64_t begin, int64_t count) {
  p.offset = p.offset + Affine(begin * ByteSize(p.dtype));
  p.dims[0] = {1, Count(count)};
  p.num_dims = 1;
  return p;
}

int ChainTiles::Depth(const DotOperand& operand) const {
  int depth = 0;
  for (int d = 0; d < p.row(); ++d)
    if (operand.domain[static_cast<size_t>(d)] != 0 && Extent(d) > 1) depth = d + 1;
  return depth;
}

TileSpec ChainTiles::BodySpec(int64_t rows, int64_t columns) const {
  TileSpec spec;
  spec.start.assign(start.begin(), start.end() - 1);
  spec.partition = {p.row(), 1, Count(rows)};
  spec.free = {{p.column(), 1, Count(columns)}};
  return spec;
}

TileSpec ChainTiles::ResultSpec(const ChainConsumer& c, const Affine& row, int64_t rows,
                                int64_t column, int64_t columns) const {
  TileSpec spec;
  for (int d : c.body_dim)
    spec.start.push_back(d < 0 ? Affine(column) : start[static_cast<size_t>(d)]);
  spec.start[static_cast<size_t>(c.row)] = row;
  spec.partition = {c.row, 1, Count(rows)};
  spec.free = {{c.column, 1, Count(columns)}};
  return spec;
}

StatusOr<Tile> ChainTiles::Panel(const DotOperand& operand, int dim, int64_t length, int64_t k,
                                 std::span<const KTile> tiles) const {
  NEURON_ASSIGN_OR_RETURN(const Tile panel,
                          AllocatePanel(ctx, operand.view.dtype, k, tiles.size(), length));
  NEURON_RETURN_IF_ERROR(LoadPanel(ctx, operand, start, dim, length, tiles, panel));
  return panel;
}

}  // namespace neuron::compiler
