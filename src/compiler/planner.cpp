// The fusion pass: one walk in topological order. An instruction joins the last kernel that one of
// its operands comes from, if the kernel's domain can hold it, else it opens a new one; so every
// kernel reads earlier kernels only, and the walk is linear in the module's size.
#include <algorithm>
#include <set>

#include "compiler/elementwise.h"
#include "compiler/hero.h"
#include "compiler/index_values.h"
#include "compiler/kernel_domain.h"
#include "compiler/kernel_limits.h"
#include "compiler/kernel_plan.h"
#include "compiler/reduction.h"
#include "compiler/wide.h"
#include "hlo/extent.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// Strides, ignoring those of extents 1, which mean nothing.
bool SameStrides(const Dims& sizes, const Dims& a, const Dims& b) {
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && a[i] != b[i]) return false;
  return true;
}

// Longer rows are reduced chunk by chunk in a kernel of their own.
constexpr int64_t kMostRow = 8192;

class Planner {
 public:
  Planner(const CanonicalModule& canonical, const std::set<int64_t>& breaks)
      : canonical_(canonical), breaks_(breaks), entry_(*canonical.module.entry()) {
    const hlo::Computation& entry = entry_;
    int64_t ids = 0;
    for (const auto& x : entry.instructions()) ids = std::max(ids, x->id() + 1);
    plan_.kernel_of.assign(static_cast<size_t>(ids), -1);
    plan_.view_of.resize(static_cast<size_t>(ids));
    plan_.extent_bound = canonical.extent_bound;
    is_result_.assign(static_cast<size_t>(ids), false);
    live_.assign(static_cast<size_t>(ids), false);
    deferred_.assign(static_cast<size_t>(ids), false);
    // Elements of a live tuple are live: their kernel writes all of them.
    live_[static_cast<size_t>(entry.root()->id())] = true;
    const auto& all = entry.instructions();
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      if (!IsLive(**it)) continue;
      for (const Instruction* operand : (*it)->operands())
        live_[static_cast<size_t>(operand->id())] = true;
    }
  }

  StatusOr<Plan> Run() {
    for (const auto& x : entry_.instructions())
      if (IsLive(*x) || (x->opcode() == Opcode::kGetTupleElement && IsLive(*x->operand(0))))
        NEURON_RETURN_IF_ERROR(Visit(*x));
    const Instruction* root = entry_.root();
    if (root->opcode() == Opcode::kTuple)
      OpenScalars(*root);
    else if (IsDeferred(root))
      Open(*root, KernelKind::kLoop);
    NEURON_RETURN_IF_ERROR(FindResults());
    return std::move(plan_);
  }

 private:
  int64_t AtBound(int64_t n) const { return hlo::AtBound(n, canonical_.extent_bound); }
  bool IsLive(const Instruction& x) const { return live_[static_cast<size_t>(x.id())]; }

  Status Visit(const Instruction& x) {
    View& view = plan_.view_of[static_cast<size_t>(x.id())];
    if (!x.shape().is_array()) {
      if (&x == entry_.root() && x.opcode() == Opcode::kTuple) return OkStatus();
      if (!IsHero(x)) return Unsupported(x);
      Open(x, KernelKind::kHero);
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
      if (IsDeferred(operand.base)) Open(*operand.base, KernelKind::kLoop);
    } else if (reinterprets) {
      const int k = plan_.KernelOf(operand.base);
      if (IsDeferred(operand.base)) return std::nullopt;
      if (k >= 0 && plan_.kernels[static_cast<size_t>(k)].kind == KernelKind::kLoop)
        return std::nullopt;
      if (operand.base->opcode() == Opcode::kIota) return std::nullopt;
      if (operand.base->opcode() == Opcode::kParameter && operand.base->shape().is_scalar())
        return std::nullopt;
      if (operand.base->opcode() == Opcode::kConstant &&
          operand.base->attributes().literal.IsSplat())
        return std::nullopt;
    }
    if (x.opcode() == Opcode::kPad) {
      std::optional<View> padded = PaddedTail(x, operand);
      if (padded && ReadsWithin(x, *padded, operand.base->shape().num_elements())) return padded;
      return std::nullopt;
    }
    return ApplyViewOp(x, operand);
  }

  // A flat value with padding after its end (lowering/strided.h): as if the buffer went on there.
  static std::optional<View> PaddedTail(const Instruction& x, const View& operand) {
    const auto& padding = x.attributes().padding;
    if (padding.size() != 1 || padding[0].low != 0 || padding[0].interior != 0 ||
        padding[0].high < 0 || operand.strides[0] != 1)
      return std::nullopt;
    View view = operand;
    view.sizes = x.shape().dims;
    return view;
  }

  // True if whatever is computed from `x` through views reads none of the padding.
  bool ReadsWithin(const Instruction& x, const View& view, int64_t elements) const {
    if (&x == entry_.root()) return false;
    for (const Instruction* user : x.users()) {
      if (!IsLive(*user)) continue;
      if (const std::optional<View> next =
              user->operand(0) == &x ? ApplyViewOp(*user, view) : std::optional<View>()) {
        if (!ReadsWithin(*user, *next, elements)) return false;
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

  static Status Unsupported(const Instruction& x) {
    return Unimplemented("compiler: no kernel for ", x.name(), " = ", x.shape().ToString(), " ",
                         hlo::OpcodeName(x.opcode()));
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
      deferred_[static_cast<size_t>(x.id())] = true;
      return OkStatus();
    }
    if (kind != KernelKind::kHero) {
      std::set<const Instruction*> seen;
      const int last = LastKernelFor(x, &seen);
      if (last >= 0 && Join(x, last, kind)) {
        TakeIn(x, last);
        return OkStatus();
      }
      // Beside what reads the same value: it is loaded once then.
      const int newest = static_cast<int>(plan_.kernels.size()) - 1;
      if (kind == KernelKind::kLoop && newest > last && ReadsAlongside(x, newest) &&
          Join(x, newest, kind))
        return OkStatus();
    }
    Open(x, kind);
    return OkStatus();
  }

  // The last kernel that `x` needs, by itself or for the deferred values that come with it.
  int LastKernelFor(const Instruction& x, std::set<const Instruction*>* seen) const {
    int last = -1;
    for (const Instruction* operand : x.operands()) {
      const Instruction* base = plan_.ViewOf(operand).base;
      if (!IsDeferred(base))
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
      if (!IsLive(*user)) continue;
      if (reader != nullptr) return false;
      reader = user;
    }
    return reader != nullptr && reader->shape().is_array() && IsEmittable(*reader) &&
           !TouchesWide(*reader) && reader->shape().dims == x.shape().dims && IsIndexValue(x);
  }
  bool IsDeferred(const Instruction* x) const {
    return deferred_[static_cast<size_t>(x->id())] && plan_.KernelOf(x) < 0;
  }

  bool ReadsDeferred(const Instruction& x) const {
    return std::any_of(x.operands().begin(), x.operands().end(), [&](const Instruction* operand) {
      return operand->shape().is_array() && IsDeferred(plan_.ViewOf(operand).base);
    });
  }
  // The deferred scalars that `x` reads become members of kernel `index`.
  void TakeScalars(const Instruction& x, int index, Kernel& kernel) {
    for (const Instruction* operand : x.operands()) {
      if (!operand->shape().is_array()) continue;
      const Instruction* base = plan_.ViewOf(operand).base;
      if (!IsDeferred(base)) continue;
      TakeScalars(*base, index, kernel);
      plan_.kernel_of[static_cast<size_t>(base->id())] = index;
      kernel.members.push_back(base);
    }
  }
  // Or get kernels of their own.
  void OpenScalars(const Instruction& x) {
    for (const Instruction* operand : x.operands())
      if (operand->shape().is_array() && IsDeferred(plan_.ViewOf(operand).base))
        Open(*plan_.ViewOf(operand).base, KernelKind::kLoop);
  }

  void Open(const Instruction& x, KernelKind kind) {
    if (kind != KernelKind::kLoop) OpenScalars(x);
    if (breaks_.contains(x.id())) sealed_.insert(static_cast<int>(plan_.kernels.size()));
    Kernel kernel;
    kernel.kind = kind;
    if (kind == KernelKind::kHero) kernel.hero = &x;
    const bool reduces = kind == KernelKind::kLoop && x.opcode() == Opcode::kReduce;
    if (x.shape().is_array())
      kernel.domain = (kind == KernelKind::kLoop ? DomainShape(x) : x.shape()).dims;
    if (kernel.domain.empty()) kernel.domain = {1};
    kernel.reduced.assign(kernel.domain.size(), false);
    if (reduces)
      for (int64_t d : x.attributes().dimensions) kernel.reduced[static_cast<size_t>(d)] = true;
    Add(x, static_cast<int>(plan_.kernels.size()), std::move(kernel));
  }

  // A reduce's domain is its operand's; so is that of a reshape, whose order is the same.
  static const hlo::Shape& DomainShape(const Instruction& x) {
    return x.opcode() == Opcode::kReduce || x.opcode() == Opcode::kReshape ? x.operand(0)->shape()
                                                                           : x.shape();
  }

  void Add(const Instruction& x, int index, Kernel kernel) {
    if (kernel.kind == KernelKind::kLoop) TakeScalars(x, index, kernel);
    plan_.kernel_of[static_cast<size_t>(x.id())] = index;
    kernel.members.push_back(&x);
    if (index == static_cast<int>(plan_.kernels.size()))
      plan_.kernels.push_back(std::move(kernel));
    else
      plan_.kernels[static_cast<size_t>(index)] = std::move(kernel);
  }

  // Elements that a reduce combines into one.
  static int64_t RowOf(const Instruction& x) {
    return x.operand(0)->shape().num_elements() / std::max<int64_t>(1, x.shape().num_elements());
  }

  // An elementwise member computed on the tiles of a hero before they leave the chip.
  bool JoinEpilogue(const Instruction& x, int index) {
    Kernel& k = plan_.kernels[static_cast<size_t>(index)];
    if (!TakesEpilogue(*k.hero) || x.opcode() == Opcode::kReduce || x.opcode() == Opcode::kReshape)
      return false;
    const int64_t n = x.shape().num_elements();
    if (n == 0 || n != Product(k.domain)) return false;
    if (!OperandsLieOn(x, index, k)) return false;
    const auto store = canonical_.stores.find(&x);
    if (store != canonical_.stores.end() &&
        !ReshapeStrides(store->second.sizes, store->second.strides, k.domain))
      return false;
    TakeScalars(x, index, k);
    plan_.kernel_of[static_cast<size_t>(x.id())] = index;
    k.members.push_back(&x);
    return true;
  }

  // Every operand can be walked over the domain, and members of the kernel lie as they were made.
  bool OperandsLieOn(const Instruction& x, int index, const Kernel& k) const {
    for (const Instruction* operand : x.operands()) {
      const View& view = plan_.ViewOf(operand);
      const auto strides = OperandStrides(view, k);
      if (!strides) return false;
      if (plan_.KernelOf(view.base) != index) continue;
      const auto natural = NaturalStrides(view.base->shape(), k);
      if (!natural || view.dtype != view.base->shape().dtype || view.offset != 0 ||
          !SameStrides(k.domain, *strides, *natural))
        return false;
    }
    return true;
  }

  bool Join(const Instruction& x, int index, KernelKind kind) {
    if (breaks_.contains(x.id())) return false;
    if (plan_.kernels[static_cast<size_t>(index)].kind == KernelKind::kHero)
      return kind == KernelKind::kLoop && JoinEpilogue(x, index);
    Kernel k = plan_.kernels[static_cast<size_t>(index)];  // changed on success only
    if (k.kind != kind || (kind == KernelKind::kWide && ReadsDeferred(x))) return false;
    const bool reduces = x.opcode() == Opcode::kReduce;
    const hlo::Shape& shape = DomainShape(x);
    // What only moves may turn out to need no kernel (placement.h).
    if (reduces && k.members.size() == 1 && k.members[0]->opcode() == Opcode::kReshape &&
        x.attributes().dimensions.back() + 1 != shape.rank())
      return false;
    if (shape.num_elements() == 0 || Product(k.domain) == 0) return false;
    // A kernel of scalars grows into its first user's domain.
    if (Product(k.domain) == 1 && shape.num_elements() > 1) {
      k.domain = shape.dims;
      k.reduced.assign(k.domain.size(), false);
    }
    std::vector<bool> reduced;
    if (reduces) {
      reduced.assign(shape.dims.size(), false);
      for (int64_t d : x.attributes().dimensions) reduced[static_cast<size_t>(d)] = true;
    }
    if (!RefineDomain(k, shape.dims, reduces ? &reduced : nullptr)) return false;
    if ((reduces && AtBound(ReducedElements(k)) > kMostRow) || !RowFitsFreeAxes(k)) return false;
    if (!OperandsLieOn(x, index, k) || !OthersStillFit(k)) return false;
    Add(x, index, std::move(k));
    return true;
  }

  // Kernels of `x`'s other operands become a part of its own: a sum of two products is one kernel,
  // though the products have nothing in common.
  void TakeIn(const Instruction& x, int index) {
    for (const Instruction* operand : x.operands()) {
      const int other = plan_.KernelOf(plan_.ViewOf(operand).base);
      if (other >= 0 && other != index) Merge(other, index);
    }
  }

  // Moves a loop kernel's members to the front of a later one if the domain can hold both, and no
  // kernel between reads what would come later now.
  void Merge(int from, int to) {
    constexpr int kFarthest = 16;  // the walk stays linear
    constexpr size_t kMostMembers = 64;
    const Kernel& source = plan_.kernels[static_cast<size_t>(from)];
    Kernel k = plan_.kernels[static_cast<size_t>(to)];
    if (from > to || to - from > kFarthest || sealed_.contains(to) || sealed_.contains(from) ||
        source.kind != KernelKind::kLoop || k.kind != KernelKind::kLoop || source.members.empty() ||
        source.members.size() + k.members.size() > kMostMembers ||
        Product(source.domain) != Product(k.domain) || !RowsAreInnermost(source) ||
        !RowsAreInnermost(k))
      return;
    for (int between = from + 1; between < to; ++between)
      for (const Instruction* member : plan_.kernels[static_cast<size_t>(between)].members)
        for (const Instruction* operand : member->operands())
          if (operand->shape().is_array() && plan_.KernelOf(plan_.ViewOf(operand).base) == from)
            return;
    const bool reduces =
        std::find(source.reduced.begin(), source.reduced.end(), true) != source.reduced.end();
    if (!RefineDomain(k, source.domain, reduces ? &source.reduced : nullptr)) return;
    if (AtBound(ReducedElements(k)) > kMostRow || !RowFitsFreeAxes(k)) return;
    k.members.insert(k.members.begin(), source.members.begin(), source.members.end());
    const std::vector<const Instruction*> moved = source.members;
    const auto claim = [&](int kernel) {
      for (const Instruction* member : moved)
        plan_.kernel_of[static_cast<size_t>(member->id())] = kernel;
    };
    claim(to);
    if (!std::all_of(k.members.begin(), k.members.end(), [&](const Instruction* member) {
          return NaturalStrides(member->shape(), k) && OperandsLieOn(*member, to, k);
        }))
      return claim(from);
    plan_.kernels[static_cast<size_t>(to)] = std::move(k);
    plan_.kernels[static_cast<size_t>(from)].members.clear();
  }

  // A reduced row lies whole along the free axes of a tile, of which there are four.
  static bool RowFitsFreeAxes(const Kernel& k) {
    int axes = 0;
    for (size_t d = 0; d < k.domain.size(); ++d) axes += k.reduced[d] && k.domain[d] > 1 ? 1 : 0;
    return axes <= isa::AccessPattern::kMaxDims;
  }

  static bool RowsAreInnermost(const Kernel& k) {
    bool reduced = false;
    for (size_t d = 0; d < k.domain.size(); ++d) {
      if (k.domain[d] == 1) continue;
      if (reduced && !k.reduced[d]) return false;
      reduced = k.reduced[d];
    }
    return true;
  }

  // What earlier members read must be expressible on the refined domain.
  bool OthersStillFit(const Kernel& k) const {
    for (const Instruction* member : k.members)
      for (const Instruction* operand : member->operands())
        if (!OperandStrides(plan_.ViewOf(operand), k)) return false;
    return true;
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
  const std::set<int64_t>& breaks_;  // ids of instructions that open a kernel
  const hlo::Computation& entry_;
  Plan plan_;
  std::set<int> sealed_;                           // kernels that a break opened
  std::vector<bool> is_result_, live_, deferred_;  // by instruction id
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
