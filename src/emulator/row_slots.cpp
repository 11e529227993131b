#include "emulator/row_slots.h"

#include <algorithm>
#include <array>

namespace neuron::emulator {
namespace {

std::array<int16_t*, 3> ValuesOf(RowStep& step) {
  if (step.kind == RowStep::Kind::kCopy) return {};  // a tile, not a value
  return {&step.a, &step.b, &step.c};
}

// The last step that uses each value, -1 for none.
std::vector<int> LastUses(std::vector<RowStep>& steps, int num_values) {
  std::vector<int> last(static_cast<size_t>(num_values), -1);
  for (size_t i = 0; i < steps.size(); ++i)
    for (const int16_t* operand : ValuesOf(steps[i]))
      if (operand != nullptr && *operand >= 0) last[*operand] = static_cast<int>(i);
  return last;
}

// A step comes after those whose values it uses, so one walk from the end finds all that are used.
void DropUnused(std::vector<RowStep>* steps, int num_values) {
  std::vector<bool> used(static_cast<size_t>(num_values), false);
  std::vector<bool> keep(steps->size());
  for (size_t i = steps->size(); i-- > 0;) {
    RowStep& step = (*steps)[i];
    keep[i] = step.out < 0 || used[step.out] || step.accumulator != nullptr;
    if (!keep[i]) continue;
    for (const int16_t* operand : ValuesOf(step))
      if (operand != nullptr && *operand >= 0) used[*operand] = true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < steps->size(); ++i)
    if (keep[i]) (*steps)[kept++] = (*steps)[i];
  steps->resize(kept);
}

}  // namespace

int ShareSlots(std::vector<RowStep>* steps, int num_values) {
  DropUnused(steps, num_values);
  const std::vector<int> last_use = LastUses(*steps, num_values);
  std::vector<int16_t> slot(static_cast<size_t>(num_values), -1);
  std::vector<int16_t> free;
  int16_t used = 0;
  for (size_t i = 0; i < steps->size(); ++i) {
    RowStep& step = (*steps)[i];
    const int16_t value = step.out;
    if (value >= 0) {
      if (free.empty()) {
        slot[value] = used++;
      } else {
        slot[value] = free.back();
        free.pop_back();
      }
      step.out = slot[value];
    }
    int16_t ended[3];
    int count = 0;
    for (int16_t* operand : ValuesOf(step)) {
      if (operand == nullptr || *operand < 0) continue;
      const int16_t id = *operand;
      *operand = slot[id];
      if (last_use[id] == static_cast<int>(i) &&
          std::find(ended, ended + count, slot[id]) == ended + count)
        ended[count++] = slot[id];
    }
    free.insert(free.end(), ended, ended + count);
  }
  return used;
}

}  // namespace neuron::emulator
