#include "compiler/dot_problem.h"

#include <algorithm>

#include "compiler/operands.h"

namespace neuron::compiler {
namespace {

bool Has(const Dims& list, size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(value)) != list.end();
}

// Joins neighbours inside a group of dimensions wherever all stride lists nest; appends.
void AppendGroup(Dims sizes, std::vector<Dims> strides, Dims& to, const std::vector<Dims*>& lists) {
  CollapseDims(sizes, strides);
  to.insert(to.end(), sizes.begin(), sizes.end());
  for (size_t i = 0; i < lists.size(); ++i)
    lists[i]->insert(lists[i]->end(), strides[i].begin(), strides[i].end());
}

// What the epilogue reads from elsewhere lies on `domain`, too.
bool EpilogueFits(const EmitContext& ctx, const Kernel& kernel, const Dims& domain) {
  for (const hlo::Instruction* result : kernel.results) {
    const View store = ctx.StoreOf(result);
    if (!ReshapeStrides(store.sizes, store.strides, domain)) return false;
  }
  for (const hlo::Instruction* member : kernel.members) {
    if (member == kernel.hero) continue;
    for (const hlo::Instruction* operand : member->operands()) {
      const View& view = ctx.plan.ViewOf(operand);
      if (Product(view.sizes) == 1) continue;
      if (!ReshapeStrides(view.sizes, view.strides, domain)) return false;
    }
  }
  return true;
}

int Widest(const Dims& domain, size_t begin, size_t end) {
  size_t widest = end - 1;
  for (size_t d = begin; d < end; ++d)
    if (domain[d] > domain[widest]) widest = d;
  return static_cast<int>(widest);
}

}  // namespace

bool IsTensorEngineDot(const hlo::Instruction& dot) {
  const auto narrow = [](DType t) {
    return t == DType::kF32 || t == DType::kBF16 || t == DType::kF16 || t == DType::kF8E5M2 ||
           t == DType::kF8E4M3;
  };
  return narrow(dot.operand(0)->shape().dtype) && narrow(dot.operand(1)->shape().dtype) &&
         narrow(dot.shape().dtype);
}

StatusOr<DotProblem> MakeDotProblem(EmitContext& ctx, const Kernel& kernel) {
  const hlo::Instruction& dot = *kernel.hero;
  const hlo::DotDimensions& numbers = dot.attributes().dot;
  NEURON_ASSIGN_OR_RETURN(const View lhs, OperandView(ctx, dot.operand(0)));
  NEURON_ASSIGN_OR_RETURN(const View rhs, OperandView(ctx, dot.operand(1)));

  struct Group {
    Dims sizes, left, right;
    void Add(int64_t size, int64_t l, int64_t r) {
      sizes.push_back(size);
      left.push_back(l);
      right.push_back(r);
    }
  };
  Group batch, m, n, k;
  for (size_t i = 0; i < numbers.lhs_batch.size(); ++i) {
    const auto l = static_cast<size_t>(numbers.lhs_batch[i]);
    const auto r = static_cast<size_t>(numbers.rhs_batch[i]);
    batch.Add(lhs.sizes[l], lhs.strides[l], rhs.strides[r]);
  }
  for (size_t i = 0; i < numbers.lhs_contracting.size(); ++i) {
    const auto l = static_cast<size_t>(numbers.lhs_contracting[i]);
    const auto r = static_cast<size_t>(numbers.rhs_contracting[i]);
    k.Add(lhs.sizes[l], lhs.strides[l], rhs.strides[r]);
  }
  for (size_t d = 0; d < lhs.sizes.size(); ++d)
    if (!Has(numbers.lhs_batch, d) && !Has(numbers.lhs_contracting, d))
      m.Add(lhs.sizes[d], lhs.strides[d], 0);
  for (size_t d = 0; d < rhs.sizes.size(); ++d)
    if (!Has(numbers.rhs_batch, d) && !Has(numbers.rhs_contracting, d))
      n.Add(rhs.sizes[d], 0, rhs.strides[d]);

  DotProblem p;
  DotOperand left{.view = lhs, .domain = {}, .k = {}}, right{.view = rhs, .domain = {}, .k = {}};
  size_t first_m = 0, first_n = 0;
  const auto build = [&](bool join) {
    p.domain.clear();
    left.domain.clear();
    right.domain.clear();
    const auto append = [&](Group& g) {
      if (join)
        return AppendGroup(g.sizes, {g.left, g.right}, p.domain, {&left.domain, &right.domain});
      if (g.sizes.empty()) g.Add(1, 0, 0);
      p.domain.insert(p.domain.end(), g.sizes.begin(), g.sizes.end());
      left.domain.insert(left.domain.end(), g.left.begin(), g.left.end());
      right.domain.insert(right.domain.end(), g.right.begin(), g.right.end());
    };
    append(batch);
    first_m = p.domain.size();
    append(m);
    first_n = p.domain.size();
    append(n);
  };
  build(true);
  if (!EpilogueFits(ctx, kernel, p.domain)) build(false);
  AppendGroup(k.sizes, {k.left, k.right}, p.k, {&left.k, &right.k});
  // The longest contraction dimension is the one that is tiled.
  const size_t longest = static_cast<size_t>(Widest(p.k, 0, p.k.size()));
  for (Dims* list : {&p.k, &left.k, &right.k}) std::swap((*list)[longest], list->back());

  const int m_dim = Widest(p.domain, first_m, first_n);
  const int n_dim = Widest(p.domain, first_n, p.domain.size());
  // The long side moves: few columns leave the array idle while it loads its rows.
  const int64_t m_size = p.domain[static_cast<size_t>(m_dim)];
  const int64_t n_size = p.domain[static_cast<size_t>(n_dim)];
  const bool swap = n_size < 16 && m_size >= 4 * n_size;
  p.row = swap ? n_dim : m_dim;
  p.column = swap ? m_dim : n_dim;
  p.stationary = swap ? right : left;
  p.moving = swap ? left : right;
  return p;
}

}  // namespace neuron::compiler
