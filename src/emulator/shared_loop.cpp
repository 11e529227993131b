#include "emulator/shared_loop.h"

#include <algorithm>
#include <cstdlib>

#include "emulator/chip_areas.h"
#include "emulator/host_estimate.h"
#include "emulator/matmul_chain.h"
#include "emulator/program.h"
#include "emulator/region.h"
#include "emulator/row_execution.h"
#include "emulator/row_reduction_op.h"
#include "emulator/strided_copy.h"
#include "emulator/transpose.h"
#include "emulator/unrolled.h"

namespace neuron::emulator {
namespace {

using Kind = StepControl::Kind;

// What an operation does is in its tiles: no accumulator, generator or address from data.
bool IsPlain(const Operation& op) {
  RowReductionParts parts;
  if (std::any_of(op.tiles.begin(), op.tiles.end(), [](const TileRef& t) { return t.dynamic; }))
    return false;
  if (IsRowProgram(op)) return op.as<RowProgram>().reductions.empty();
  return IsCopy(op) || IsTranspose(op) || AsRowReduction(op, &parts) ||
         op.opcode == isa::Opcode::nc_matmul;
}

bool ReadsAny(const isa::Affine& affine, const std::vector<isa::Register>& registers) {
  for (int i = 0; i < affine.num_terms; ++i)
    if (std::find(registers.begin(), registers.end(), affine.terms[i].reg) != registers.end())
      return true;
  return false;
}

// The loop that begins at `begin`, if its body is plain and its counters are all that changes.
std::unique_ptr<SharedLoop> PlainLoop(const isa::Program& program, const std::vector<Step>& steps,
                                      uint32_t begin) {
  auto loop = std::make_unique<SharedLoop>();
  loop->begin = begin;
  loop->end = steps[begin].control.match;
  loop->body_end = loop->end;
  if (const uint32_t second = SecondCopy(program, steps, begin); second != 0) {
    loop->body_end = second;
    loop->copies = 2;
  }
  std::vector<isa::Register> counters{steps[begin].control.reg};
  std::vector<double> repeats{1};
  for (uint32_t i = begin + 1; i < loop->body_end; ++i) {
    const StepControl& control = steps[i].control;
    switch (control.kind) {
      case Kind::kOperation:
        if (!IsPlain(steps[i].operation)) return nullptr;
        loop->iteration_ns += repeats.back() * HostNs(steps[i].operation);
        for (const TileRef& tile : steps[i].operation.tiles)
          if (tile.hbm) loop->hbm.push_back(&tile);
        break;
      case Kind::kLoopBegin: {
        if (ReadsAny(control.a, counters) || ReadsAny(control.b, counters)) return nullptr;
        counters.push_back(control.reg);
        loop->inner.push_back(i);
        const bool known = control.a.num_terms == 0 && control.b.num_terms == 0;
        const int64_t trips =
            known ? (control.b.base - control.a.base + control.step - 1) / control.step : 1;
        repeats.push_back(repeats.back() * static_cast<double>(std::max<int64_t>(trips, 0)));
        break;
      }
      case Kind::kLoopEnd:
        repeats.pop_back();
        break;
      default:
        return nullptr;
    }
  }
  // A counter stands for one value at a time.
  std::sort(counters.begin(), counters.end());
  if (std::adjacent_find(counters.begin(), counters.end()) != counters.end()) return nullptr;
  return loop;
}

Own OwnPlace(const TileRef& tile) {
  if (tile.packed) return Own::kPacked;
  return tile.pattern->memory == isa::Memory::kPsum ? Own::kPsum : Own::kSbuf;
}

// Marks the tiles on chip that are written in the body. False, and nothing is marked, if one
// iteration sees what another one left there, or if something behind the loop does.
bool TakeTilesOnChip(const isa::Program& program, std::vector<Step>& steps, const SharedLoop& loop,
                     const Liveness& liveness) {
  ChipAreas written;
  for (uint32_t i = loop.begin + 1; i < loop.end; ++i)
    for (const TileRef& tile : steps[i].operation.tiles)
      if (!tile.hbm && tile.written) written.Add(PatternRegion(program, tile));
  const ChipAreas behind = liveness.AliveAt(loop.end);  // an iteration: the next one, the rest
  std::vector<TileRef*> own;
  for (uint32_t i = loop.begin + 1; i < loop.end; ++i)
    for (TileRef& tile : steps[i].operation.tiles) {
      if (tile.hbm) continue;
      const Region region = PatternRegion(program, tile);
      if (!written.Touches(region)) continue;
      if (behind.Touches(region)) return false;
      own.push_back(&tile);
    }
  for (TileRef* tile : own) tile->own = OwnPlace(*tile);
  return true;
}

void MarkGroups(const isa::Program& program, const std::vector<Step>& steps, const SharedLoop& loop,
                std::span<const std::unique_ptr<Group>> groups) {
  ChipAreas own;
  for (uint32_t i = loop.begin + 1; i < loop.end; ++i)
    for (const TileRef& tile : steps[i].operation.tiles)
      if (tile.own != Own::kNo) own.Add(PatternRegion(program, tile));
  for (const auto& group : groups) {
    if (group->first < loop.begin || group->last > loop.end) continue;
    for (TileRef& tile : group->tiles)
      if (!tile.hbm && own.Touches(PatternRegion(program, tile))) tile.own = OwnPlace(tile);
  }
}

// What a tile in HBM touches in the first iteration, and how far the next one is.
struct Walk {
  const TileRef* ref;
  char *low, *high;
  int64_t advance;
  bool steady;  // no inner loop moves it

  char* Lowest(int64_t trips) const { return low + std::min<int64_t>(0, (trips - 1) * advance); }
  char* Highest(int64_t trips) const { return high + std::max<int64_t>(0, (trips - 1) * advance); }
};

struct CounterRange {
  int64_t first = 0, last = 0;
};

// No iteration shares a byte of these with another one.
bool Apart(const Walk& a, const Walk& b, int64_t trips) {
  if (a.Highest(trips) <= b.Lowest(trips) || b.Highest(trips) <= a.Lowest(trips)) return true;
  if (a.advance != b.advance) return false;
  const int64_t advance = std::abs(a.advance);
  if (std::max(a.high, b.high) - std::min(a.low, b.low) <= advance) return true;
  // All iterations side by side between one row and the next, in whatever order a row is walked.
  const TileShape& shape = a.ref->shape;
  if (!a.steady || !b.steady || a.low != b.low || a.high != b.high ||
      shape.rows != b.ref->shape.rows || shape.row_stride != b.ref->shape.row_stride)
    return false;
  const int64_t stride = std::abs(shape.row_stride);
  const int64_t row = a.high - a.low - (shape.rows - 1) * stride;
  return advance >= row && (trips - 1) * advance + row <= stride;
}

}  // namespace

std::vector<std::unique_ptr<SharedLoop>> FindSharedLoops(
    const isa::Program& program, std::vector<Step>& steps,
    std::span<const std::unique_ptr<Group>> groups, const Liveness& liveness) {
  std::vector<std::unique_ptr<SharedLoop>> loops;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (steps[i].control.kind != Kind::kLoopBegin || steps[i].loop_body != nullptr) continue;
    std::unique_ptr<SharedLoop> loop = PlainLoop(program, steps, i);
    if (loop == nullptr || !TakeTilesOnChip(program, steps, *loop, liveness)) continue;
    MarkGroups(program, steps, *loop, groups);
    i = loop->end;
    loops.push_back(std::move(loop));
  }
  return loops;
}

bool MayShare(const SharedLoop& loop, const std::vector<Step>& steps, const LoopRange& range,
              const Execution& execution) {
  std::vector<std::pair<isa::Register, CounterRange>> inner;
  for (const uint32_t i : loop.inner) {
    const StepControl& control = steps[i].control;
    const int64_t begin = control.a.Evaluate(execution.registers);
    const int64_t end = control.b.Evaluate(execution.registers);
    if (begin >= end) return false;
    inner.push_back(
        {control.reg, {begin, begin + (end - 1 - begin) / control.step * control.step}});
  }
  std::vector<Walk> walks;
  for (const TileRef* ref : loop.hbm) {
    const BoundTensor& tensor = execution.tensors[ref->tensor];
    int64_t low = ref->offset + tensor.offset;
    int64_t high = low;
    Walk walk{ref, nullptr, nullptr, 0, true};
    for (int t = 0; t < ref->num_terms; ++t) {
      const auto& [reg, coefficient] = ref->terms[t];
      if (reg == range.counter) {
        walk.advance += coefficient * range.step;
        low += coefficient * range.begin;
        high += coefficient * range.begin;
        continue;
      }
      CounterRange values{execution.registers[reg], execution.registers[reg]};
      for (const auto& [counter, counted] : inner)
        if (counter == reg) values = counted;
      walk.steady = walk.steady && values.first == values.last;
      low += std::min(coefficient * values.first, coefficient * values.last);
      high += std::max(coefficient * values.first, coefficient * values.last);
    }
    walk.low = tensor.data + low + ref->low;
    walk.high = tensor.data + high + ref->high;
    if (walk.Lowest(range.trips) < tensor.data ||
        walk.Highest(range.trips) > tensor.data + tensor.bytes)
      return false;
    walks.push_back(walk);
  }
  for (const Walk& written : walks) {
    if (!written.ref->written) continue;
    for (const Walk& other : walks)
      if (!Apart(written, other, range.trips)) return false;
  }
  return true;
}

}  // namespace neuron::emulator
