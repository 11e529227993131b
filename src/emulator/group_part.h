// An instruction as a group sees it, and the rows that a group's instructions have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/operation.h"
#include "emulator/row_reduction_op.h"

namespace neuron::emulator {

struct GroupPart {
  const Operation& op;
  std::vector<TileRef> tiles;  // of op, with the group's rows
  std::vector<bool> spread;    // by tile: one element per row, read for each element of it
  RowReductionParts reduction;
  bool copy = false, reduces = false;
  bool per_row = false;  // all tiles have one element per row

  explicit GroupPart(const Operation& operation) : op(operation) {}
  // Fills in what op's tiles are with a row per partition, or `sub_rows` of them; false if they
  // have no such rows.
  bool See(const Core& core, int64_t sub_rows);
};

struct GroupRows {
  const int64_t sub_rows;  // on each partition of the tiles
  int64_t rows = 0;        // partitions
  int64_t elements = 0;    // of a row; 0: no tile of whole rows has come yet
  bool whole = false;      // steps count on a row being one chunk

  // Rows of one length, dense enough that a copy gains nothing from its own plan. Reductions of
  // them and work on their results, one value per row, belong to the group if a row can be one
  // chunk. False if the part does not fit; else its rows are the group's from here on.
  bool Fit(const GroupPart& part);

 private:
  bool FitFullRows(const GroupPart& part);
};

}  // namespace neuron::emulator
