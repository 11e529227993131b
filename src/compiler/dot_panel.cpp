#include "compiler/dot_panel.h"

#include <algorithm>

namespace neuron::compiler {
namespace {

constexpr int64_t kRows = isa::kPartitions;  // the contraction of one matmul

// Address of the operand's elements at `start`, contraction index `tile`.
Affine Address(EmitContext& ctx, const DotOperand& operand, const std::vector<Affine>& start,
               const KTile& tile) {
  const View& view = operand.view;
  int64_t at = view.offset;
  for (size_t d = 0; d < tile.outer.size(); ++d) at += tile.outer[d] * operand.k[d];
  const int64_t bytes = ByteSize(view.dtype);
  Affine offset = ctx.ValueOf(ctx.BufferOf(view.base).byte_offset + at * bytes);
  offset = ctx.Sum(offset, ctx.Times(tile.begin, operand.k.back() * bytes));
  for (size_t d = 0; d < operand.domain.size(); ++d)
    if (operand.domain[d] != 0)
      offset = ctx.Sum(offset, ctx.Times(start[d], operand.domain[d] * bytes));
  return offset;
}

}  // namespace

std::vector<KTile> TilesOfK(const Dims& k) {
  std::vector<KTile> tiles;
  const int64_t inner = k.back();
  Dims outer(k.size() - 1, 0);
  const int64_t combinations = Product(k) / std::max<int64_t>(inner, 1);
  for (int64_t c = 0; c < combinations; ++c) {
    for (int64_t begin = 0; begin < inner; begin += kRows)
      tiles.push_back({outer, Affine(begin), Count(std::min(kRows, inner - begin))});
    for (size_t d = outer.size(); d-- > 0;) {
      if (++outer[d] < k[d]) break;
      outer[d] = 0;
    }
  }
  return tiles;
}

StatusOr<Tile> AllocatePanel(EmitContext& ctx, DType dtype, int64_t k, size_t slots, Count length) {
  const int64_t partitions = std::clamp<int64_t>(k, 1, kRows);
  return ctx.AllocateTile(dtype, Count(partitions),
                          {Count(std::max<int64_t>(static_cast<int64_t>(slots), 1)), length});
}

AccessPattern PanelSlot(const Tile& panel, int64_t slot, Count k, int64_t begin, Count count) {
  AccessPattern p = panel.pattern;
  const int64_t bytes = ByteSize(p.dtype);
  p.partitions = k;
  p.offset = p.offset + Affine((slot * p.dims[0].step + begin) * bytes);
  p.dims[0] = {1, count};
  p.num_dims = 1;
  return p;
}

Status LoadPanel(EmitContext& ctx, const DotOperand& operand, const std::vector<Affine>& start,
                 int dim, Count length, std::span<const KTile> tiles, const Tile& panel) {
  const int64_t step = operand.domain[static_cast<size_t>(dim)];
  const int64_t k_step = operand.k.back();
  const uint16_t tensor = ctx.BufferOf(operand.view.base).tensor;
  const DType dtype = operand.view.dtype;
  // Rows of k that lie side by side in HBM come in through the transposing DMA.
  const bool transposes = k_step == 1 && step != 1 && ByteSize(dtype) >= 2 && length.max > 1;
  for (size_t t = 0; t < tiles.size();) {
    const KTile& tile = tiles[t];
    const auto slot = static_cast<int64_t>(t);
    const Affine address = Address(ctx, operand, start, tile);
    if (transposes) {
      AccessPattern rows = AccessPattern::Hbm(dtype, tensor, address, length, 0, {{1, tile.count}});
      ctx.SetPartitionStep(rows, step);
      ctx.DmaTranspose(PanelSlot(panel, slot, tile.count, 0, length), rows);
      ++t;
      continue;
    }
    // Whole tiles that follow each other are one transfer.
    size_t end = t + 1;
    while (end < tiles.size() && tile.count == Count(kRows) && tiles[end].count == Count(kRows) &&
           tiles[end].outer == tile.outer)
      ++end;
    const auto slots = static_cast<int64_t>(end - t);
    AccessPattern to = PanelSlot(panel, slot, tile.count, 0, length);
    to.num_dims = 2;
    to.dims[0] = {panel.pattern.dims[0].step, Count(slots)};
    to.dims[1] = {1, length};
    // What lies between whole tiles is walked where there are several, which are static.
    const isa::Dim between = slots > 1 ? ctx.DimOf(k_step * kRows, Count(slots)) : isa::Dim{0, 1};
    AccessPattern from = AccessPattern::Hbm(dtype, tensor, address, tile.count, 0,
                                            {between, ctx.DimOf(step, length)});
    ctx.SetPartitionStep(from, k_step);
    ctx.DmaCopy(to, from);
    t = end;
  }
  return OkStatus();
}

}  // namespace neuron::compiler
