#include "compiler/kernel_limits.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "compiler/kernel_domain.h"
#include "hlo/extent.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// One element for a whole row, which takes no room to speak of.
bool IsPerRow(const View& view, const Kernel& kernel) {
  if (ReducedElements(kernel) == 1) return false;
  const auto strides = OperandStrides(view, kernel);
  if (!strides) return false;
  for (size_t d = 0; d < strides->size(); ++d)
    if (kernel.reduced[d] && kernel.domain[d] != 1 && (*strides)[d] != 0) return false;
  return true;
}

}  // namespace

int64_t PeakBytes(const Plan& plan, const Kernel& kernel) {
  const auto n = static_cast<int64_t>(kernel.members.size());
  std::unordered_map<const Instruction*, std::pair<int64_t, int64_t>> spans;
  for (int64_t i = 0; i < n; ++i) {
    const Instruction* x = kernel.members[static_cast<size_t>(i)];
    spans.try_emplace(x, i, i);
    for (const Instruction* operand : x->operands()) {
      if (!operand->shape().is_array()) continue;
      const View& view = plan.ViewOf(operand);
      if (Product(view.sizes) != Product(kernel.domain) || IsPerRow(view, kernel)) continue;
      const auto [it, added] = spans.try_emplace(view.base, i, i);
      it->second.second = i;
      for (size_t d = 0; d < view.sizes.size(); ++d)  // loaded once, kept to the end
        if (view.strides[d] == 0 && view.sizes[d] > 1) it->second = {0, n - 1};
    }
  }
  std::vector<int64_t> delta(static_cast<size_t>(n) + 1, 0);
  for (const auto& [value, span] : spans) {  // NOLINT(*-pointer-iteration-order): sums
    if (value->opcode() == Opcode::kConstant) continue;
    const int64_t bytes = ByteSize(value->shape().dtype);
    delta[static_cast<size_t>(span.first)] += bytes;
    delta[static_cast<size_t>(span.second) + 1] -= bytes;
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (int64_t d : delta) peak = std::max(peak, live += d);
  return peak + 8;
}

namespace {

// Tiles of a GpSimd kernel: one per buffer read, one per result.
constexpr int64_t kMostKernelTiles = 24;
int64_t TilesOf(const Plan& plan, const Kernel& kernel) {
  std::set<const Instruction*> read;
  for (const Instruction* x : kernel.members)
    for (const Instruction* operand : x->operands()) read.insert(plan.ViewOf(operand).base);
  for (const Instruction* x : kernel.members) read.erase(x);
  return static_cast<int64_t>(read.size() + kernel.results.size());
}

}  // namespace

bool FitsOnChip(const Plan& plan, const Kernel& kernel) {
  if (kernel.members.size() < 2) return true;
  if (kernel.kind == KernelKind::kWide) return TilesOf(plan, kernel) <= kMostKernelTiles;
  const bool rows =
      std::find(kernel.reduced.begin(), kernel.reduced.end(), true) != kernel.reduced.end();
  const int64_t row = rows ? hlo::AtBound(ReducedElements(kernel), plan.extent_bound) : 128;
  return row * PeakBytes(plan, kernel) <= kTileBytes;
}

// Deferred scalars open no kernel.
int64_t CutPoint(const Kernel& kernel) {
  const size_t middle = kernel.members.size() / 2;
  for (size_t i = middle; i < kernel.members.size(); ++i)
    if (kernel.members[i]->shape().num_elements() != 1) return kernel.members[i]->id();
  return kernel.members[middle]->id();
}

}  // namespace neuron::compiler
