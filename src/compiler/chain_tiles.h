// ChainTiles: the block of rows that a chain is at, and the tiles of it and of its operands.
#pragma once

#include <span>
#include <vector>

#include "compiler/chain_problem.h"
#include "compiler/dot_panel.h"

namespace neuron::compiler {

inline constexpr int64_t kChainRows = isa::kPartitions;  // of a block, and of a tile of columns
// Parts of `of` that n splits into, the last one maybe cut.
inline int64_t Blocks(int64_t n, int64_t of) { return (n + of - 1) / of; }

// Columns [begin, begin + count) of a tile of plain rows.
AccessPattern Columns(AccessPattern p, int64_t begin, int64_t count);

struct ChainTiles {
  EmitContext& ctx;
  const ChainProblem& p;
  std::vector<Affine> start;  // of the block: per dimension of the body, then the width

  ChainTiles(EmitContext& context, const ChainProblem& problem)
      : ctx(context), p(problem), start(problem.body.domain.size() + 1, Affine(0)) {}

  int64_t Extent(int d) const { return p.body.domain[static_cast<size_t>(d)]; }
  // The outer dimensions that decide where an operand's panel lies: it is loaded inside them.
  int Depth(const DotOperand& operand) const;

  Affine& row() { return start[static_cast<size_t>(p.row())]; }
  TileSpec BodySpec(int64_t rows, int64_t columns) const;
  TileSpec ResultSpec(const ChainConsumer& c, const Affine& row, int64_t rows, int64_t column,
                      int64_t columns) const;
  // The operand's elements at `start`, `length` of them along `dim`, on chip.
  StatusOr<Tile> Panel(const DotOperand& operand, int dim, int64_t length, int64_t k,
                       std::span<const KTile> tiles) const;
};

}  // namespace neuron::compiler
