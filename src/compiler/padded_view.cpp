#include "compiler/padded_view.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;

std::optional<View> PaddedTail(const Instruction& x, const View& operand) {
  const auto& padding = x.attributes().padding;
  if (padding.size() != 1 || padding[0].low != 0 || padding[0].interior != 0 ||
      padding[0].high < 0 || operand.strides[0] != 1)
    return std::nullopt;
  View view = operand;
  view.sizes = x.shape().dims;
  return view;
}

// True if whatever is computed from `x` through views reads none of the padding.
bool ReadsWithin(const Instruction& x, const View& view, int64_t elements, const LiveValues& live) {
  if (&x == live.root) return false;
  for (const Instruction* user : x.users()) {
    if (!live.Contains(*user)) continue;
    if (const std::optional<View> next =
            user->operand(0) == &x ? ApplyViewOp(*user, view) : std::optional<View>()) {
      if (!ReadsWithin(*user, *next, elements, live)) return false;
      continue;
    }
    int64_t low = view.offset;
    int64_t high = view.offset;
    for (size_t d = 0; d < view.sizes.size(); ++d)
      (view.strides[d] < 0 ? low : high) += (view.sizes[d] - 1) * view.strides[d];
    if (low < 0 || high >= elements) return false;
  }
  return true;
}

}  // namespace

std::optional<View> PaddedView(const Instruction& x, const View& operand, const LiveValues& live) {
  std::optional<View> padded = PaddedTail(x, operand);
  if (padded && ReadsWithin(x, *padded, operand.base->shape().num_elements(), live)) return padded;
  return std::nullopt;
}

}  // namespace neuron::compiler
