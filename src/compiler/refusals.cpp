#include "compiler/refusals.h"

#include <algorithm>

#include "base/status.h"
#include "hlo/collective.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

struct Reason {
  Opcode opcode;
  bool always;  // no instruction of this opcode compiles
  std::string_view why;
};
constexpr Reason kReasons[] = {
    {Opcode::kRng, true,
     "; a program keeps no state between executions: pass it to rng-bit-generator as an argument"},
    {Opcode::kSetDimensionSize, true,
     "; sizes are static: pad and mask, or compile for each size (plans of the runtime take sizes "
     "as run-time extents)"},
    {Opcode::kDynamicReshape, true, "; sizes are static: use reshape"},
};

// Shardings and annotations; the operand is the result.
constexpr std::string_view kPassThrough[] = {
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "MoveToHost",
    "MoveToDevice",
    "PinToDevice",
    "annotate_device_placement",
    "AwsNeuronTransferWithStaticRing",
};

}  // namespace

std::string WhyRefused(const Instruction& x) {
  if (hlo::IsCollective(x.opcode()))
    return "; groups of one replica compile to copies, larger ones will when programs of several "
           "cores meet (docs/roadmap.md): until then torch.distributed joins programs";
  if (x.opcode() == Opcode::kCustomCall) {
    std::string known = "TopK";
    for (const std::string_view name : kPassThrough) known += StrCat(", ", name);
    return StrCat(" of the target '", x.attributes().custom_call_target,
                  "', which is none that is known: ", known, "; say it in HLO");
  }
  for (const Reason& reason : kReasons)
    if (reason.opcode == x.opcode()) return std::string(reason.why);
  return "";
}

bool IsRefused(Opcode opcode) {
  return std::any_of(std::begin(kReasons), std::end(kReasons), [&](const Reason& reason) {
    return reason.opcode == opcode && reason.always;
  });
}

bool IsPassThrough(const Instruction& call) {
  return call.opcode() == Opcode::kCustomCall && call.operands().size() == 1 &&
         call.operand(0)->shape() == call.shape() &&
         std::find(std::begin(kPassThrough), std::end(kPassThrough),
                   call.attributes().custom_call_target) != std::end(kPassThrough);
}

}  // namespace neuron::compiler
