#include "emulator/group_part.h"

#include <algorithm>
#include <array>

#include "emulator/program.h"
#include "emulator/row_execution.h"
#include "emulator/strided_copy.h"

namespace neuron::emulator {
namespace {

// Values per row can stand for rows where an operator has a form for them, with a row beside them.
bool SpreadsFit(const GroupPart& part) {
  std::array<bool, kMaxRowValues> spread{};
  for (const RowStep& step : part.op.as<RowProgram>().steps) {
    const auto is_spread = [&](int16_t value) { return value >= 0 && spread[value]; };
    if (step.kind == RowStep::Kind::kLoad) {
      spread[step.out] = part.spread[step.tile];
    } else if (step.kind == RowStep::Kind::kBinary && step.form == OperandForm::kRowRow &&
               !step.scalar) {
      if (is_spread(step.a) && is_spread(step.b)) return false;
    } else if (step.kind == RowStep::Kind::kSelect && !step.scalar) {
      if (is_spread(step.a) && is_spread(step.b)) return false;
    } else if (is_spread(step.a) || is_spread(step.b) || is_spread(step.c)) {
      return false;
    }
  }
  for (const RowReduce& reduce : part.op.as<RowProgram>().reductions)
    if (spread[reduce.value]) return false;
  return true;
}

}  // namespace

bool GroupPart::See(const Core& core, int64_t sub_rows) {
  copy = IsCopy(op);
  reduces = AsRowReduction(op, &reduction);
  if (!copy && !reduces && !IsRowProgram(op)) return false;
  per_row = true;
  for (TileRef tile : op.tiles) {
    if (tile.dynamic) return false;
    if (tile.flat) {
      tile.shape = ShapeOf(*tile.pattern, RowPitch(core, *tile.pattern), nullptr);
      tile.flat = false;
    }
    // One element for all rows of a partition can only be read.
    if (sub_rows > 1 && tile.written && tile.shape.elements == 1) return false;
    if (!tile.shape.SplitRows(sub_rows)) return false;
    const bool repeated = !tile.written && tile.shape.elements > 1 && tile.shape.broadcast();
    per_row = per_row && tile.shape.elements == 1;
    spread.push_back(repeated);
    if (repeated) {
      tile.shape.elements = 1;
      tile.shape.num_dims = 0;
    }
    tiles.push_back(tile);
  }
  return true;
}

bool GroupRows::Fit(const GroupPart& part) {
  for (const TileRef& tile : part.tiles)
    if (tile.shape.rows != (rows == 0 ? part.tiles[0].shape.rows : rows)) return false;
  if (!part.per_row) return FitFullRows(part);
  if (elements > kWholeRow || part.reduces) return false;
  // Alone, one value per row is faster walked across the rows; but a copy may begin a group.
  if (elements == 0 && !part.copy) return false;
  if (!part.copy) {
    const auto& program = part.op.as<RowProgram>();
    if (!program.reductions.empty()) return false;
    for (const RowStep& step : program.steps)
      if (step.kind == RowStep::Kind::kIota) return false;
  }
  rows = part.tiles[0].shape.rows;
  whole = true;
  return true;
}

bool GroupRows::FitFullRows(const GroupPart& part) {
  const RowProgram* program = part.copy || part.reduces ? nullptr : &part.op.as<RowProgram>();
  if (program != nullptr && program->flat) return false;
  const TileShape& shape = part.tiles[part.copy ? 0 : part.reduces ? 1 : program->shape_tile].shape;
  for (const TileRef& tile : part.tiles)
    if (part.copy && (tile.shape.elements != shape.elements || !tile.shape.contiguous()))
      return false;
  // Values of several rows lie side by side only if each of them is there from end to end.
  bool chunked = whole || part.reduces || sub_rows > 1;
  if (part.reduces && (part.reduction.kept != sub_rows || part.tiles[0].shape.elements != 1))
    return false;
  if (program != nullptr) {
    for (const RowStep& step : program->steps)
      if ((step.kind == RowStep::Kind::kLoad || step.kind == RowStep::Kind::kStore) &&
          part.tiles[step.tile].shape.elements != shape.elements && !part.spread[step.tile])
        return false;
    if (!SpreadsFit(part)) return false;
    chunked =
        chunked || std::find(part.spread.begin(), part.spread.end(), true) != part.spread.end();
    for (const RowReduce& reduce : program->reductions)
      if (sub_rows > 1 || reduce.command != isa::ReduceCmd::kResetReduce) return false;
    chunked = chunked || !program->reductions.empty();
  }
  if (chunked && shape.elements > kWholeRow) return false;
  if (shape.elements == 1 || (shape.rows > 1 && shape.rows * shape.elements < 64)) return false;
  if (elements != 0 && shape.elements != elements) return false;
  rows = shape.rows;
  elements = shape.elements;
  whole = chunked;
  return true;
}

}  // namespace neuron::emulator
