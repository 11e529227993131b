#include "compiler/fusion.h"

#include <algorithm>

#include "compiler/hero.h"
#include "compiler/kernel_domain.h"
#include "compiler/reduction.h"
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

// A reduce's domain is its operand's; so is that of a reshape, whose order is the same.
const hlo::Shape& DomainShape(const Instruction& x) {
  return x.opcode() == Opcode::kReduce || x.opcode() == Opcode::kReshape ? x.operand(0)->shape()
                                                                         : x.shape();
}

// A reduced row lies whole along the free axes of a tile, of which there are four.
bool RowFitsFreeAxes(const Kernel& k) {
  int axes = 0;
  for (size_t d = 0; d < k.domain.size(); ++d) axes += k.reduced[d] && k.domain[d] > 1 ? 1 : 0;
  return axes <= isa::AccessPattern::kMaxDims;
}

bool RowsAreInnermost(const Kernel& k) {
  bool reduced = false;
  for (size_t d = 0; d < k.domain.size(); ++d) {
    if (k.domain[d] == 1) continue;
    if (reduced && !k.reduced[d]) return false;
    reduced = k.reduced[d];
  }
  return true;
}

}  // namespace

int64_t Fusion::AtBound(int64_t n) const { return hlo::AtBound(n, canonical_.extent_bound); }

bool Fusion::ReadsDeferred(const Instruction& x) const {
  return std::any_of(x.operands().begin(), x.operands().end(), [&](const Instruction* operand) {
    return operand->shape().is_array() && IsDeferred(plan_.ViewOf(operand).base);
  });
}

// The deferred scalars that `x` reads become members of kernel `index`.
void Fusion::TakeScalars(const Instruction& x, int index, Kernel& kernel) {
  for (const Instruction* operand : x.operands()) {
    if (!operand->shape().is_array()) continue;
    const Instruction* base = plan_.ViewOf(operand).base;
    if (!IsDeferred(base)) continue;
    TakeScalars(*base, index, kernel);
    plan_.kernel_of[static_cast<size_t>(base->id())] = index;
    kernel.members.push_back(base);
  }
}

void Fusion::OpenScalars(const Instruction& x) {
  for (const Instruction* operand : x.operands())
    if (operand->shape().is_array() && IsDeferred(plan_.ViewOf(operand).base))
      Open(*plan_.ViewOf(operand).base, KernelKind::kLoop);
}

void Fusion::Open(const Instruction& x, KernelKind kind) {
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

void Fusion::Add(const Instruction& x, int index, Kernel kernel) {
  if (kernel.kind == KernelKind::kLoop) TakeScalars(x, index, kernel);
  plan_.kernel_of[static_cast<size_t>(x.id())] = index;
  kernel.members.push_back(&x);
  if (index == static_cast<int>(plan_.kernels.size()))
    plan_.kernels.push_back(std::move(kernel));
  else
    plan_.kernels[static_cast<size_t>(index)] = std::move(kernel);
}

// An elementwise member computed on the tiles of a hero before they leave the chip.
bool Fusion::JoinEpilogue(const Instruction& x, int index) {
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
bool Fusion::OperandsLieOn(const Instruction& x, int index, const Kernel& k) const {
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

// What earlier members read must be expressible on the refined domain.
bool Fusion::OthersStillFit(const Kernel& k) const {
  for (const Instruction* member : k.members)
    for (const Instruction* operand : member->operands())
      if (!OperandStrides(plan_.ViewOf(operand), k)) return false;
  return true;
}

bool Fusion::Join(const Instruction& x, int index, KernelKind kind) {
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

void Fusion::TakeIn(const Instruction& x, int index) {
  for (const Instruction* operand : x.operands()) {
    const int other = plan_.KernelOf(plan_.ViewOf(operand).base);
    if (other >= 0 && other != index) Merge(other, index);
  }
}

// Moves a loop kernel's members to the front of a later one if the domain can hold both, and no
// kernel between reads what would come later now.
void Fusion::Merge(int from, int to) {
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

}  // namespace neuron::compiler
