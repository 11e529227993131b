#include "emulator/liveness.h"

#include <utility>

#include "emulator/matmul_chain.h"
#include "emulator/program.h"
#include "emulator/row_execution.h"
#include "emulator/row_reduction_op.h"
#include "emulator/strided_copy.h"
#include "emulator/transpose.h"

namespace neuron::emulator {
namespace {

constexpr uint32_t kRecorded = 64;  // every so many instructions of a line are remembered

bool Accumulates(const Operation& op) {
  return (op.opcode == isa::Opcode::nc_matmul && !OverwritesSum(op)) ||
         op.opcode == isa::Opcode::nc_matmul_mx;
}

bool Reads(const Operation& op, const TileRef& tile) {
  const isa::InstructionDef& def = isa::DefOf(op.opcode);
  const size_t operand =
      tile.operand < def.operands.size() ? tile.operand : def.operands.size() - 1;
  return def.operands[operand].role != isa::Role::kOut || Accumulates(op);
}

// Whether the operation writes every element of its destination, whatever the data are.
bool WritesWhole(const Operation& op) {
  RowReductionParts parts;
  return IsCopy(op) || IsTranspose(op) || IsRowProgram(op) || AsRowReduction(op, &parts) ||
         op.opcode == isa::Opcode::nc_matmul;
}

// Whether the elements of a row are all the bytes between its first and its last, in any order.
bool IsDense(TileShape shape) {
  int64_t bytes = shape.element_bytes;
  for (int done = 0; done < shape.num_dims; ++done) {
    int next = done;
    while (next < shape.num_dims && shape.stride[next] != bytes) ++next;
    if (next == shape.num_dims) return false;
    bytes *= shape.count[next];
    std::swap(shape.stride[next], shape.stride[done]);
    std::swap(shape.count[next], shape.count[done]);
  }
  return true;
}

// Whether the tile's elements are all the bytes of its region, at the same place each time.
bool IsRectangle(const TileRef& tile) {
  return !tile.dynamic && tile.num_terms == 0 && IsDense(ShapeOf(*tile.pattern, 0, nullptr));
}

bool RunsAtLeastOnce(const StepControl& loop) {
  return loop.kind == StepControl::Kind::kLoopBegin && loop.a.num_terms == 0 &&
         loop.b.num_terms == 0 && loop.a.base < loop.b.base;
}

}  // namespace

Liveness::Liveness(const isa::Program& program, const std::vector<Step>& steps)
    : program_(program), steps_(steps) {
  Walk(0, static_cast<uint32_t>(steps.size()), {}, true);
}

void Liveness::Before(const Step& step, ChipAreas* alive) const {
  if (step.control.kind == StepControl::Kind::kMeeting) return alive->AddAll();
  const Operation& op = step.operation;
  if (WritesWhole(op))
    for (const TileRef& tile : op.tiles)
      if (!tile.hbm && tile.written && IsRectangle(tile))
        alive->Remove(PatternRegion(program_, tile));
  for (const TileRef& tile : op.tiles)
    if (!tile.hbm && Reads(op, tile)) alive->Add(PatternRegion(program_, tile));
}

ChipAreas Liveness::Walk(uint32_t first, uint32_t last, ChipAreas alive, bool record) {
  for (uint32_t i = last; i-- > first;) {
    const Step& step = steps_[i];
    if (step.control.kind == StepControl::Kind::kLoopEnd) {
      const uint32_t begin = step.control.match;
      // Behind the body stands what follows, or the body again; once more round adds nothing.
      ChipAreas behind = alive;
      behind.Add(Walk(begin + 1, i, alive, false));
      if (record) alive_[i] = behind;
      ChipAreas before = Walk(begin + 1, i, std::move(behind), record);
      if (!RunsAtLeastOnce(steps_[begin].control)) before.Add(alive);
      alive = std::move(before);
      i = begin;
    } else {
      Before(step, &alive);
    }
    if (record && (steps_[i].control.kind != StepControl::Kind::kOperation || i % kRecorded == 0))
      alive_[i] = alive;
  }
  return alive;
}

ChipAreas Liveness::AliveAt(uint32_t at) const {
  uint32_t known = at;
  while (known < steps_.size() && !alive_.contains(known)) ++known;
  ChipAreas alive = known < steps_.size() ? alive_.at(known) : ChipAreas();
  for (uint32_t i = known; i-- > at;) Before(steps_[i], &alive);
  return alive;
}

bool Liveness::ReadFrom(uint32_t at, const TileRef& tile) const {
  return AliveAt(at).Touches(PatternRegion(program_, tile));
}

}  // namespace neuron::emulator
