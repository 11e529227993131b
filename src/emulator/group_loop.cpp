#include "emulator/group_loop.h"

#include <algorithm>
#include <cstdlib>

#include "emulator/group_aliases.h"
#include "emulator/group_builder.h"
#include "emulator/parallel.h"
#include "emulator/program.h"
#include "emulator/region.h"
#include "emulator/row_execution.h"

namespace neuron::emulator {
namespace {

// A tile in HBM over all iterations.
struct Walk {
  const Tile& tile;
  const TileRef& ref;
  int64_t advance;  // bytes from one iteration to the next

  char* low(int64_t trips) const {
    return tile.data + ref.low + std::min<int64_t>(0, (trips - 1) * advance);
  }
  char* high(int64_t trips) const {
    return tile.data + ref.high + std::max<int64_t>(0, (trips - 1) * advance);
  }
};

int64_t Advance(const TileRef& ref, const LoopRange& range) {
  int64_t bytes = 0;
  for (int i = 0; i < ref.num_terms; ++i)
    if (ref.terms[i].reg == range.counter) bytes += ref.terms[i].coefficient * range.step;
  return bytes;
}

bool MayMeet(const Walk& a, const Walk& b, int64_t trips) {
  return a.low(trips) < b.high(trips) && b.low(trips) < a.high(trips);
}

// Whether no iteration's tile shares a byte with another iteration's: one follows the other, or all
// of them lie side by side between one row and the next.
bool IterationsAreApart(const Walk& walk, int64_t trips) {
  const int64_t advance = std::abs(walk.advance);
  if (advance >= walk.ref.high - walk.ref.low) return true;
  const TileShape& shape = *walk.tile.shape;
  if (!shape.contiguous() || shape.sub_stride < 0) return false;
  const int64_t row =
      (shape.sub_rows - 1) * shape.sub_stride + shape.elements * shape.element_bytes;
  return advance >= row && (trips - 1) * advance + row <= std::abs(shape.row_stride);
}

bool Independent(const Group& group, const Tile* tiles, const LoopRange& range) {
  for (size_t w = 0; w < group.tiles.size(); ++w) {
    if (!group.tiles[w].hbm || !group.tiles[w].written) continue;
    const Walk written{tiles[w], group.tiles[w], Advance(group.tiles[w], range)};
    if (!IterationsAreApart(written, range.trips)) return false;
    for (size_t t = 0; t < group.tiles.size(); ++t) {
      if (t == w || !group.tiles[t].hbm) continue;
      const Walk other{tiles[t], group.tiles[t], Advance(group.tiles[t], range)};
      if (!MayMeet(written, other, range.trips)) continue;
      if (other.advance != written.advance ||
          !(SameLayout(tiles[w], tiles[t]) || SameWalk(group.tiles[w], group.tiles[t])))
        return false;
    }
  }
  return true;
}

}  // namespace

bool IsLoopBody(const Group& group, const std::vector<Step>& steps) {
  if (group.writes_on_chip || group.first == 0) return false;
  const StepControl& before = steps[group.first - 1].control;
  return before.kind == StepControl::Kind::kLoopBegin &&
         before.match == group.first + group.copies * (group.last - group.first);
}

bool RunGroupLoop(const Group& group, const std::vector<Step>& steps, const LoopRange& range,
                  std::span<const int64_t> registers, const Execution& execution) {
  // Runs rows [first, last), counted through all iterations.
  const auto run = [&](int64_t first, int64_t last, const auto& body) {
    std::vector<int64_t> own(registers.begin(), registers.end());
    Execution mine = execution;
    mine.registers = own.data();
    Tile tiles[GroupBuilder::kMaxTiles];
    const int64_t rows = group.tiles[group.program.shape_tile].shape.rows;
    while (first < last) {
      const int64_t row = first % rows;
      const int64_t count = std::min(rows - row, last - first);
      own[range.counter] = range.begin + first / rows * range.step;
      if (!ResolveTiles(group, steps, mine, tiles) || !body(tiles, mine, row, row + count))
        return false;
      first += count;
    }
    return true;
  };
  const TileShape& shape = group.tiles[group.program.shape_tile].shape;
  const int64_t rows = shape.rows * range.trips;
  // Offsets are affine: what holds at both ends holds between them.
  const bool may_run =
      run(0, 1,
          [&](const Tile* tiles, const Execution&, int64_t, int64_t) {
            return MayRunInBlocks(group, tiles) && Independent(group, tiles, range);
          }) &&
      run(rows - 1, rows, [](const Tile*, const Execution&, int64_t, int64_t) { return true; });
  if (!may_run) return false;
  const double work =
      static_cast<double>(rows * shape.sub_rows * shape.elements) * group.program.ns_per_element;
  ParallelFor(rows, 1, work, [&](int64_t first, int64_t last) {
    run(first, last, [&](const Tile* tiles, const Execution& mine, int64_t from, int64_t to) {
      RunRowRange(group.program, tiles, mine.registers, from, to);
      return true;
    });
  });
  return true;
}

}  // namespace neuron::emulator
