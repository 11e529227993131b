// Panels: an operand of a dot in SBUF, [k of a tile on partitions][tiles of k][length].
//
//   const std::vector<KTile> tiles = TilesOfK(k);
//   NEURON_ASSIGN_OR_RETURN(Tile panel, AllocatePanel(ctx, dtype, k.back(), tiles.size(), length));
//   NEURON_RETURN_IF_ERROR(LoadPanel(ctx, operand, start, dim, length, tiles, panel));
//   ctx.Matmul(sum, PanelSlot(panel, 0, tiles[0].count, 0, length), ...);
#pragma once

#include <span>

#include "compiler/dot_problem.h"

namespace neuron::compiler {

// A slice of at most 128 indices of the contraction.
struct KTile {
  Dims outer;    // index per contraction dimension but the last
  Affine begin;  // in the last one
  Count count;
};
// Of static extents.
std::vector<KTile> TilesOfK(const Dims& k);

// For contraction tiles of at most `k` indices.
StatusOr<Tile> AllocatePanel(EmitContext& ctx, DType dtype, int64_t k, size_t slots, Count length);

// Elements [begin, begin + count) of one slot, on the first `k` partitions.
AccessPattern PanelSlot(const Tile& panel, int64_t slot, Count k, int64_t begin, Count count);

// The operand's elements at `start` (an index per dimension of operand.domain), `length` along
// `dim`, for each of `tiles`.
Status LoadPanel(EmitContext& ctx, const DotOperand& operand, const std::vector<Affine>& start,
                 int dim, Count length, std::span<const KTile> tiles, const Tile& panel);

}  // namespace neuron::compiler
