#include "emulator/group.h"

#include "emulator/group_aliases.h"
#include "emulator/group_builder.h"
#include "emulator/liveness.h"
#include "emulator/program.h"
#include "emulator/row_execution.h"
#include "emulator/row_reduction_op.h"
#include "emulator/unrolled.h"

namespace neuron::emulator {
namespace {

bool IsOperation(const Step& step) { return step.control.kind == StepControl::Kind::kOperation; }

// How many rows lie on a partition of the tiles ahead: the first reduction tells.
int64_t SubRowsAhead(const std::vector<Step>& steps, uint32_t first) {
  constexpr uint32_t kLookAhead = 64;
  for (uint32_t i = first; i < steps.size() && i < first + kLookAhead && IsOperation(steps[i]);
       ++i) {
    RowReductionParts parts;
    if (AsRowReduction(steps[i].operation, &parts))
      return parts.kept <= kMaxSubRows ? parts.kept : 1;
  }
  return 1;
}

}  // namespace

std::vector<std::unique_ptr<Group>> FindGroups(const isa::Program& program, const Core& core,
                                               const std::vector<Step>& steps,
                                               const Liveness& liveness) {
  std::vector<std::unique_ptr<Group>> groups;
  const auto count = static_cast<uint32_t>(steps.size());
  uint32_t second = 0;  // where the copy that follows the current one begins
  const auto build = [&](uint32_t first, int64_t sub_rows) {
    GroupBuilder builder({program, core, steps, liveness}, sub_rows);
    for (uint32_t i = first; i < count && IsOperation(steps[i]); ++i)
      if ((i == second && i != first) || !builder.Add(i)) break;
    return builder.Finish();
  };
  for (uint32_t i = 0; i < count;) {
    if (steps[i].control.kind == StepControl::Kind::kLoopBegin)
      second = SecondCopy(program, steps, i);
    const int64_t sub_rows = SubRowsAhead(steps, i);
    std::unique_ptr<Group> group = build(i, sub_rows);
    if (group == nullptr && sub_rows != 1) group = build(i, 1);
    if (group != nullptr && group->last == second &&
        steps[i - 1].control.kind == StepControl::Kind::kLoopBegin)
      group->copies = 2;
    i = group == nullptr ? i + 1 : group->last;
    if (group != nullptr) groups.push_back(std::move(group));
  }
  return groups;
}

void ExecuteGroup(const Group& group, const std::vector<Step>& steps, Execution& execution,
                  bool* done) {
  Tile tiles[GroupBuilder::kMaxTiles];
  *done = ResolveTiles(group, steps, execution, tiles) && MayRunInBlocks(group, tiles);
  if (*done) RunRows(group.program, tiles, execution.registers);
}

}  // namespace neuron::emulator
