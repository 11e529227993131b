// The fusion pass: one walk in topological order. An instruction joins the last kernel that one of
// its operands comes from, if the kernel's domain can hold it, else it opens a new one; so every
// kernel reads earlier kernels only, and the walk is linear in the module's size.
#include <algorithm>
#include <set>

#include "compiler/elementwise.h"
#include "compiler/fusion.h"
#include "compiler/hero.h"
#include "compiler/index_values.h"
#include "compiler/kernel_limits.h"
#include "compiler/kernel_plan.h"
#include "compiler/live_values.h"
#include "compiler/padded_view.h"
#include "compiler/reduction.h"
#include "compiler/refusals.h"
#include "compiler/wide.h"
#include "hlo/extent.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

class Planner {
 public:
  Planner(const CanonicalModule& canonical, const std::set<int64_t>& breaks)
      : canonical_(canonical),
        entry_(*canonical.module.entry()),
        live_(entry_),
        plan_{.kernels = {},
              .kernel_of = std::vector<int>(live_.live.size(), -1),
              .view_of = std::vector<View>(live_.live.size()),
              .places = {},
              .spills = {},
              .extent_bound = canonical.extent_bound},
        fusion_(plan_, canonical, breaks),
        is_result_(live_.live.size()) {}

  StatusOr<Plan> Run() {
    for (const auto& x : entry_.instructions())
      if (live_.Contains(*x) ||
          (x->opcode() == Opcode::kGetTupleElement && live_.Contains(*x->operand(0))))
        NEURON_RETURN_IF_ERROR(Visit(*x));
    const Instruction* root = entry_.root();
    if (root->opcode() == Opcode::kTuple)
      fusion_.OpenScalars(*root);
    else if (fusion_.IsDeferred(root))
      fusion_.Open(*root, KernelKind::kLoop);
    NEURON_RETURN_IF_ERROR(FindResults());
    return std::move(plan_);
  }

 private:
  int64_t AtBound(int64_t n) const { return hlo::AtBound(n, canonical_.extent_bound); }

  Status Visit(const Instruction& x) {
    View& view = plan_.view_of[static_cast<size_t>(x.id())];
    if (!x.shape().is_array()) {
      if (&x == entry_.root() && x.opcode() == Opcode::kTuple) return OkStatus();
      if (!IsHero(x)) return Unsupported(x);
      fusion_.Open(x, KernelKind::kHero);
      return OkStatus();
    }
    view = View::Of(&x);
    switch (x.opcode()) {
      case Opcode::kParameter: {
        const auto number = static_cast<size_t>(x.attributes().parameter_number);
        if (number < canonical_.strides.size() && !canonical_.strides[number].empty())
          view.strides = canonical_.strides[number];
        return OkStatus();
      }
      case Opcode::kConstant:
      case Opcode::kIota:
        return OkStatus();
      default:
        break;
    }
    if (x.opcode() == Opcode::kGetTupleElement) {
      const int k = plan_.KernelOf(x.operand(0));
      plan_.kernel_of[static_cast<size_t>(x.id())] = k;
      plan_.kernels[static_cast<size_t>(k)].members.push_back(&x);
      plan_.kernels[static_cast<size_t>(k)].results.push_back(&x);
      is_result_[static_cast<size_t>(x.id())] = true;
      return OkStatus();
    }
    if (!x.operands().empty() && x.operand(0)->shape().is_array())
      if (std::optional<View> seen = FollowView(x)) {
        view = *std::move(seen);
        return OkStatus();
      }
    return Compute(x);
  }

  std::optional<View> FollowView(const Instruction& x) {
    const View& operand = plan_.ViewOf(x.operand(0));
    const bool reinterprets = x.opcode() == Opcode::kConvert ||
                              x.opcode() == Opcode::kBitcastConvert ||
                              x.opcode() == Opcode::kReal || x.opcode() == Opcode::kImag;
    // Words and bits of a value are in its buffer; a value of a loop kernel had better stay on
    // chip.
    const bool other_width = x.opcode() == Opcode::kBitcastConvert &&
                             ByteSize(x.shape().dtype) != ByteSize(operand.dtype);
    if (other_width) {
      if (fusion_.IsDeferred(operand.base)) fusion_.Open(*operand.base, KernelKind::kLoop);
    } else if (reinterprets) {
      const int k = plan_.KernelOf(operand.base);
      if (fusion_.IsDeferred(operand.base)) return std::nullopt;
      if (k >= 0 && plan_.kernels[static_cast<size_t>(k)].kind == KernelKind::kLoop)
        return std::nullopt;
      if (operand.base->opcode() == Opcode::kIota) return std::nullopt;
      if (operand.base->opcode() == Opcode::kParameter && operand.base->shape().is_scalar())
        return std::nullopt;
      if (operand.base->opcode() == Opcode::kConstant &&
          operand.base->attributes().literal.IsSplat())
        return std::nullopt;
    }
    if (x.opcode() == Opcode::kPad) return PaddedView(x, operand, live_);
    return ApplyViewOp(x, operand);
  }

  static Status Unsupported(const Instruction& x) {
    return Unimplemented("compiler: no kernel for ", x.name(), " = ", x.shape().ToString(), " ",
                         hlo::OpcodeName(x.opcode()), WhyRefused(x));
  }

  Status Compute(const Instruction& x) {
    const bool reduces = x.opcode() == Opcode::kReduce && ReductionAlu(x).has_value() &&
                         AtBound(RowOf(x)) <= kMostRow;
    const bool moves = x.opcode() == Opcode::kReshape;  // over strides that do not nest
    KernelKind kind = KernelKind::kHero;
    if (reduces || (TouchesWide(x) ? IsWideMovement(x) : IsEmittable(x)) || moves)
      kind = KernelKind::kLoop;
    else if (TouchesWide(x) && IsEmittable(x))
      kind = KernelKind::kWide;
    else if (!IsHero(x))
      return Unsupported(x);
    if (kind == KernelKind::kLoop && !reduces && !moves &&
        (IsScalarOfArguments(x) || IsComputedByItsReader(x))) {
      fusion_.Defer(x);
      return OkStatus();
    }
    if (kind != KernelKind::kHero) {
      std::set<const Instruction*> seen;
      const int last = LastKernelFor(x, &seen);
      if (last >= 0 && fusion_.Join(x, last, kind)) {
        fusion_.TakeIn(x, last);
        return OkStatus();
      }
      // Beside what reads the same value: it is loaded once then.
      const int newest = static_cast<int>(plan_.kernels.size()) - 1;
      if (kind == KernelKind::kLoop && newest > last && ReadsAlongside(x, newest) &&
          fusion_.Join(x, newest, kind))
        return OkStatus();
    }
    fusion_.Open(x, kind);
    return OkStatus();
  }

  // The last kernel that `x` needs, by itself or for the deferred values that come with it.
  int LastKernelFor(const Instruction& x, std::set<const Instruction*>* seen) const {
    int last = -1;
    for (const Instruction* operand : x.operands()) {
      const Instruction* base = plan_.ViewOf(operand).base;
      if (!fusion_.IsDeferred(base))
        last = std::max(last, plan_.KernelOf(base));
      else if (seen->insert(base).second)
        last = std::max(last, LastKernelFor(*base, seen));
    }
    return last;
  }

  // True if the loop kernel reads or computes what `x` reads. A sum of columns stays alone: its
  // kernel is transposed.
  bool ReadsAlongside(const Instruction& x, int index) const {
    constexpr size_t kMostMembers = 64;  // the walk stays linear
    const Kernel& kernel = plan_.kernels[static_cast<size_t>(index)];
    if (kernel.kind != KernelKind::kLoop || kernel.members.size() > kMostMembers ||
        Product(kernel.domain) == 1)
      return false;
    if (x.opcode() == Opcode::kReduce &&
        x.attributes().dimensions.back() + 1 != x.operand(0)->shape().rank())
      return false;
    for (const Instruction* mine : x.operands()) {
      const Instruction* base = plan_.ViewOf(mine).base;
      if (base->shape().num_elements() == 1 || base->opcode() == Opcode::kIota) continue;
      for (const Instruction* member : kernel.members)
        for (const Instruction* operand : member->operands())
          if (operand->shape().is_array() && plan_.ViewOf(operand).base == base) return true;
    }
    return false;
  }

  // A scalar that depends on arguments only is computed by the first kernel that reads it: as a
  // kernel of its own it would part the work on large values before it from the work after it.
  bool IsScalarOfArguments(const Instruction& x) const {
    if (x.shape().num_elements() != 1 || x.operands().empty()) return false;
    return std::all_of(x.operands().begin(), x.operands().end(), [&](const Instruction* operand) {
      const Instruction* base = plan_.ViewOf(operand).base;
      return plan_.KernelOf(base) < 0 && base->shape().num_elements() == 1;
    });
  }

  // So is an index value by the only instruction that reads it, as it lies.
  bool IsComputedByItsReader(const Instruction& x) const {
    const Instruction* reader = nullptr;
    for (const Instruction* user : x.users()) {
      if (!live_.Contains(*user)) continue;
      if (reader != nullptr) return false;
      reader = user;
    }
    return reader != nullptr && reader->shape().is_array() && IsEmittable(*reader) &&
           !TouchesWide(*reader) && reader->shape().dims == x.shape().dims && IsIndexValue(x);
  }

  // Elements that a reduce combines into one.
  static int64_t RowOf(const Instruction& x) {
    return x.operand(0)->shape().num_elements() / std::max<int64_t>(1, x.shape().num_elements());
  }

  // What later kernels and the root read. A kernel reads earlier ones only: they run in this order.
  Status FindResults() {
    Status order = OkStatus();
    const auto mark = [&](const Instruction* value, int reader) {
      const Instruction* base = plan_.ViewOf(value).base;
      const int k = plan_.KernelOf(base);
      if (reader >= 0 && k > reader)
        order = Internal("compiler: kernel ", reader, " reads ", base->name(), " of kernel ", k);
      if (k < 0 || k == reader || is_result_[static_cast<size_t>(base->id())]) return;
      is_result_[static_cast<size_t>(base->id())] = true;
      plan_.kernels[static_cast<size_t>(k)].results.push_back(base);
    };
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      const Kernel& kernel = plan_.kernels[k];
      for (const Instruction* member : kernel.members)
        for (const Instruction* operand : member->operands())
          if (operand->shape().is_array()) mark(operand, static_cast<int>(k));
    }
    const Instruction* root = entry_.root();
    if (root->opcode() == Opcode::kTuple)
      for (const Instruction* value : root->operands()) mark(value, -1);
    else
      mark(root, -1);
    return order;
  }

  const CanonicalModule& canonical_;
  const hlo::Computation& entry_;
  // Elements of a live tuple are live too: their kernel writes all of them.
  const LiveValues live_;
  Plan plan_;
  Fusion fusion_;
  std::vector<bool> is_result_;  // by instruction id
};

}  // namespace

StatusOr<Plan> PlanKernels(const CanonicalModule& canonical) {
  // Nearly always the first plan fits.
  std::set<int64_t> breaks;
  std::vector<Spill> spills;
  while (true) {
    NEURON_ASSIGN_OR_RETURN(Plan plan, Planner(canonical, breaks).Run());
    bool fits = true;
    for (const Kernel& kernel : plan.kernels) {
      if (FitsOnChip(plan, kernel)) continue;
      Spill spill = CutPoint(plan, kernel);
      if (!breaks.insert(spill.at->id()).second) continue;  // nothing more can be done about it
      spills.push_back(std::move(spill));
      fits = false;
    }
    if (!fits) continue;
    plan.spills = std::move(spills);
    return plan;
  }
}

}  // namespace neuron::compiler
