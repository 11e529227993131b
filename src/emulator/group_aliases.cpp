#include "emulator/group_aliases.h"

#include "emulator/program.h"

namespace neuron::emulator {
namespace {

bool IsStore(const RowStep& step) {
  return step.kind == RowStep::Kind::kStore || step.kind == RowStep::Kind::kCopy;
}

bool Overlap(const Tile& a, const TileRef& a_ref, const Tile& b, const TileRef& b_ref) {
  return a.data + a_ref.low < b.data + b_ref.high && b.data + b_ref.low < a.data + a_ref.high;
}

}  // namespace

std::vector<Group::MayAlias> FindAliases(const Group& group) {
  std::vector<Group::MayAlias> pairs;
  const std::vector<RowStep>& steps = group.program.steps;
  const std::vector<TileRef>& tiles = group.tiles;
  for (size_t w = 0; w < tiles.size(); ++w) {
    if (!tiles[w].hbm || !tiles[w].written) continue;
    size_t stored = steps.size();
    for (size_t i = 0; i < steps.size(); ++i)
      if (IsStore(steps[i]) && steps[i].tile == static_cast<int16_t>(w)) {
        stored = i;
        break;
      }
    for (size_t r = 0; r < tiles.size(); ++r) {
      if (r == w || !tiles[r].hbm || tiles[r].tensor == tiles[w].tensor) continue;
      bool later = tiles[r].written;
      for (size_t i = stored; i < steps.size(); ++i)
        later = later || (i > stored && (steps[i].tile == static_cast<int16_t>(r) ||
                                         (steps[i].kind == RowStep::Kind::kCopy &&
                                          steps[i].a == static_cast<int16_t>(r))));
      pairs.push_back({static_cast<int16_t>(w), static_cast<int16_t>(r), later});
    }
  }
  return pairs;
}

bool ResolveTiles(const Group& group, const std::vector<Step>& steps, const Execution& execution,
                  Tile* tiles) {
  TileShape unused;
  const Operation& first = steps[group.first].operation;
  for (size_t t = 0; t < group.tiles.size(); ++t)
    if (!execution.Resolve(first, group.tiles[t], &unused, &tiles[t]).ok()) return false;
  return true;
}

bool SameLayout(const Tile& a, const Tile& b) {
  const TileShape& x = *a.shape;
  const TileShape& y = *b.shape;
  return a.data == b.data && x.element_bytes == y.element_bytes && x.elements == y.elements &&
         x.contiguous() && y.contiguous() && x.row_stride == y.row_stride &&
         x.sub_stride == y.sub_stride;
}

bool MayRunInBlocks(const Group& group, const Tile* tiles) {
  for (const Group::MayAlias& pair : group.may_alias) {
    const Tile& written = tiles[pair.written];
    const Tile& other = tiles[pair.other];
    if (!Overlap(written, group.tiles[pair.written], other, group.tiles[pair.other])) continue;
    if (pair.read_later || !SameLayout(written, other)) return false;
  }
  return true;
}

}  // namespace neuron::emulator
