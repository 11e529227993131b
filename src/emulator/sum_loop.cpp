#include "emulator/sum_loop.h"

#include <algorithm>

#include "emulator/matmul_chain.h"
#include "emulator/program.h"

namespace neuron::emulator {
namespace {

using Kind = StepControl::Kind;

bool Reads(const isa::Affine& affine, isa::Register reg) {
  return std::any_of(affine.terms.begin(), affine.terms.begin() + affine.num_terms,
                     [&](const isa::Affine::Term& term) { return term.reg == reg; });
}

// The nest that begins at `begin`, if a single matmul is all that it does and its bounds are known
// where it is entered.
std::unique_ptr<SumLoop> SumLoopAt(const std::vector<Step>& steps, uint32_t begin) {
  auto loop = std::make_unique<SumLoop>();
  uint32_t i = begin;
  for (; steps[i].control.kind == Kind::kLoopBegin; ++i) {
    for (const uint32_t outer : loop->loops)
      if (steps[outer].control.reg == steps[i].control.reg ||
          Reads(steps[i].control.a, steps[outer].control.reg) ||
          Reads(steps[i].control.b, steps[outer].control.reg))
        return nullptr;
    loop->loops.push_back(i);
  }
  loop->matmul = i;
  if (steps[i].control.kind != Kind::kOperation || !MayAddUp(steps[i].operation)) return nullptr;
  const TileRef& sum = steps[i].operation.tiles[0];
  for (size_t d = loop->loops.size(); d-- > 0;) {
    const StepControl& control = steps[loop->loops[d]].control;
    if (control.match != ++i) return nullptr;
    for (int t = 0; t < sum.num_terms; ++t)
      if (sum.terms[t].reg == control.reg) return nullptr;
  }
  return loop;
}

}  // namespace

std::vector<std::unique_ptr<SumLoop>> FindSumLoops(const std::vector<Step>& steps) {
  std::vector<std::unique_ptr<SumLoop>> loops;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (steps[i].control.kind != Kind::kLoopBegin) continue;
    std::unique_ptr<SumLoop> loop = SumLoopAt(steps, i);
    if (loop == nullptr) continue;
    i = loop->matmul;
    loops.push_back(std::move(loop));
  }
  return loops;
}

Status RunSumLoop(const SumLoop& loop, const std::vector<Step>& steps,
                  std::span<const LoopRange> ranges, Execution& execution) {
  const Operation& matmul = steps[loop.matmul].operation;
  int64_t total = 1;
  for (const LoopRange& range : ranges) {
    total *= range.trips;
    execution.registers[range.counter] = range.begin;
  }
  MatmulPieces pieces;
  pieces.stationary.reserve(static_cast<size_t>(total));
  pieces.moving.reserve(static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i) {
    NEURON_RETURN_IF_ERROR(pieces.Add(matmul, execution));
    for (size_t d = ranges.size(); d-- > 0;) {  // the next iteration
      int64_t& counter = execution.registers[ranges[d].counter];
      counter += ranges[d].step;
      if (counter < ranges[d].begin + ranges[d].trips * ranges[d].step || d == 0) break;
      counter = ranges[d].begin;
    }
  }
  for (const LoopRange& range : ranges)
    execution.registers[range.counter] = range.begin + range.trips * range.step;
  return AddUp(matmul, pieces, execution);
}

}  // namespace neuron::emulator
