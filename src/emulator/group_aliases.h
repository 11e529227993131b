// Tiles of a group at run time: what HBM memory they are bound to, and whether blocks may run.
#pragma once

#include "emulator/group.h"

namespace neuron::emulator {

// Pairs for Group::may_alias, from the group's tiles and steps.
std::vector<Group::MayAlias> FindAliases(const Group& group);

// tiles[t] for group.tiles[t]; false if one leaves its tensor.
bool ResolveTiles(const Group& group, const std::vector<Step>& steps, const Execution& execution,
                  Tile* tiles);
// Whether blocks see what instructions one by one would see, with tiles bound to this memory.
bool MayRunInBlocks(const Group& group, const Tile* tiles);

// The same elements at the same addresses, a row being dense.
bool SameLayout(const Tile& a, const Tile& b);

}  // namespace neuron::emulator
