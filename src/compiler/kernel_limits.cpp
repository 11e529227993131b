#include "compiler/kernel_limits.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <tuple>
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

namespace {

// Members of a kernel during whose computation a value has to be on chip.
struct Span {
  int64_t first = 0, last = 0;
};
using Spans = std::unordered_map<const Instruction*, Span>;

Spans FindSpans(const Plan& plan, const Kernel& kernel) {
  const auto n = static_cast<int64_t>(kernel.members.size());
  Spans spans;
  for (int64_t i = 0; i < n; ++i) {
    const Instruction* x = kernel.members[static_cast<size_t>(i)];
    if (x->opcode() == Opcode::kConstant) continue;
    spans.try_emplace(x, i, i);
    for (const Instruction* operand : x->operands()) {
      if (!operand->shape().is_array()) continue;
      const View& view = plan.ViewOf(operand);
      if (view.base->opcode() == Opcode::kConstant) continue;
      if (Product(view.sizes) != Product(kernel.domain) || IsPerRow(view, kernel)) continue;
      const auto [it, added] = spans.try_emplace(view.base, i, i);
      it->second.last = i;
      for (size_t d = 0; d < view.sizes.size(); ++d)  // loaded once, kept to the end
        if (view.strides[d] == 0 && view.sizes[d] > 1) it->second = {0, n - 1};
    }
  }
  return spans;
}

int64_t BytesOf(const Instruction* value) { return ByteSize(value->shape().dtype); }

// Elements of a row of the domain as it lies on one partition.
int64_t RowOf(const Plan& plan, const Kernel& kernel) {
  const bool rows = std::ranges::find(kernel.reduced, true) != kernel.reduced.end();
  return rows ? hlo::AtBound(ReducedElements(kernel), plan.extent_bound) : 128;
}

}  // namespace

int64_t PeakBytes(const Plan& plan, const Kernel& kernel) {
  std::vector<int64_t> delta(kernel.members.size() + 1, 0);
  for (const auto& [value, span] : FindSpans(plan, kernel)) {  // NOLINT(*-pointer-iteration-order)
    delta[static_cast<size_t>(span.first)] += BytesOf(value);
    delta[static_cast<size_t>(span.last) + 1] -= BytesOf(value);
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
  return RowOf(plan, kernel) * PeakBytes(plan, kernel) <= kTileBytes;
}

Spill CutPoint(const Plan& plan, const Kernel& kernel) {
  const Spans spans = FindSpans(plan, kernel);
  const auto n = static_cast<int64_t>(kernel.members.size());
  std::vector<int64_t> delta(static_cast<size_t>(n) + 1, 0);  // of the bytes that cross, by cut
  for (const auto& [value, span] : spans) {  // NOLINT(*-pointer-iteration-order): sums
    delta[static_cast<size_t>(span.first) + 1] += BytesOf(value);
    delta[static_cast<size_t>(span.last) + 1] -= BytesOf(value);
  }
  // Balanced parts first: a cut near an end leaves a part that does not fit either.
  const int64_t middle = n / 2;
  int64_t best = middle, crossing = 0;
  std::optional<std::tuple<bool, int64_t, int64_t>> least;
  for (int64_t i = 0; i < n; ++i) {
    crossing += delta[static_cast<size_t>(i)];
    // Deferred scalars open no kernel.
    if (i == 0 || kernel.members[static_cast<size_t>(i)]->shape().num_elements() == 1) continue;
    const std::tuple cost(i < n / 4 || i > n - n / 4, crossing, std::abs(i - middle));
    if (least.has_value() && cost >= *least) continue;
    least = cost;
    best = i;
  }
  Spill spill{.at = kernel.members[static_cast<size_t>(best)],
              .values = {},
              .bytes_needed = RowOf(plan, kernel) * PeakBytes(plan, kernel),
              .bytes_there = kTileBytes};
  for (int64_t i = 0; i < best; ++i) {
    const Instruction* member = kernel.members[static_cast<size_t>(i)];
    if (const auto it = spans.find(member); it != spans.end() && it->second.last >= best)
      spill.values.push_back(member);
  }
  return spill;
}

}  // namespace neuron::compiler
