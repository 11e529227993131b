#include "compiler/chain_problem.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/kernel_domain.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;

bool Has(const std::vector<int64_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(value)) != list.end();
}

// One operand of a dot, its dimensions by part; all strides in its base's elements.
struct Side {
  View view;
  Dims batch, batch_steps, free, free_steps, k, k_steps;
};

Side SideOf(const Plan& plan, const Instruction& dot, int operand) {
  const hlo::DotDimensions& numbers = dot.attributes().dot;
  const auto& batch = operand == 0 ? numbers.lhs_batch : numbers.rhs_batch;
  const auto& contracting = operand == 0 ? numbers.lhs_contracting : numbers.rhs_contracting;
  Side side;
  side.view = plan.ViewOf(dot.operand(operand));
  const auto take = [&](size_t d, Dims& sizes, Dims& steps) {
    sizes.push_back(side.view.sizes[d]);
    steps.push_back(side.view.strides[d]);
  };
  for (int64_t d : batch) take(static_cast<size_t>(d), side.batch, side.batch_steps);
  for (int64_t d : contracting) take(static_cast<size_t>(d), side.k, side.k_steps);
  for (size_t d = 0; d < side.view.sizes.size(); ++d)
    if (!Has(batch, d) && !Has(contracting, d)) take(d, side.free, side.free_steps);
  return side;
}

Dims Concatenated(std::initializer_list<const Dims*> lists) {
  Dims out;
  for (const Dims* list : lists) out.insert(out.end(), list->begin(), list->end());
  return out;
}

Dims WithoutOnes(const Dims& dims) {
  Dims out;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(out), [](int64_t d) { return d != 1; });
  return out;
}

// Strides that are the same where they mean something.
bool SameWalk(const Dims& sizes, const Dims& a, const Dims& b) {
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && a[i] != b[i]) return false;
  return true;
}

class Maker {
 public:
  Maker(const Plan& plan, std::span<const Kernel> stages,
        std::span<const Instruction* const> results, const StoreOf& store_of)
      : plan_(plan),
        stages_(stages),
        results_(results.begin(), results.end()),
        store_of_(store_of) {}

  std::optional<ChainProblem> Run() {
    if (!FindDomain() || !ReadProducers() || !BodyFits()) return std::nullopt;
    for (const Kernel& stage : stages_)
      if (IsConsumer(stage) && !ReadConsumer(stage)) return std::nullopt;
    return std::move(problem_);
  }

 private:
  bool Reads(const Kernel& stage) const {  // a dot whose operand is in the body
    return std::any_of(
        stage.hero->operands().begin(), stage.hero->operands().end(),
        [&](const Instruction* operand) { return in_body_.contains(plan_.ViewOf(operand).base); });
  }
  bool IsConsumer(const Kernel& stage) const {
    return stage.kind == KernelKind::kHero && !producers_.contains(&stage);
  }

  // [outer..., row, column] that the producers' results and the loop kernels lie on.
  bool FindDomain() {
    Kernel& body = problem_.body;
    if (stages_[0].kind != KernelKind::kHero || stages_[0].hero->opcode() != hlo::Opcode::kDot)
      return false;
    const Instruction& first = *stages_[0].hero;
    const int64_t columns = Product(SideOf(plan_, first, 1).free);
    Dims domain = WithoutOnes(first.shape().dims);
    const int64_t elements = Product(domain);
    body.kind = KernelKind::kHero;
    for (const Kernel& stage : stages_) {
      if (stage.kind == KernelKind::kHero) {
        if (stage.hero->opcode() != hlo::Opcode::kDot) return false;
        if (Reads(stage)) continue;
        if (Product(SideOf(plan_, *stage.hero, 1).free) != columns) return false;
        producers_.insert(&stage);
      } else if (stage.kind != KernelKind::kLoop) {
        return false;
      }
      if (Product(stage.domain) != elements) return false;
      auto finer = CommonRefinement(domain, WithoutOnes(stage.domain));
      if (!finer) return false;
      domain = *std::move(finer);
      int64_t inside = 1;  // reduced dimensions are the columns
      for (size_t d = stage.domain.size(); d-- > 0; inside *= stage.domain[d])
        if (stage.reduced[d] && stage.domain[d] != 1 && inside >= columns) return false;
      const bool reduces =
          std::any_of(stage.members.begin(), stage.members.end(),
                      [](const Instruction* x) { return x->opcode() == hlo::Opcode::kReduce; });
      if (reduces && ReducedElements(stage) != columns) return false;
      for (const Instruction* x : stage.members) {
        in_body_.insert(x);
        body.members.push_back(x);
      }
    }
    if (domain.size() < 2 || domain.back() != columns) return false;
    body.domain = std::move(domain);
    body.reduced.assign(body.domain.size(), false);
    body.reduced.back() = true;
    for (const Instruction* x : results_)
      if (in_body_.contains(x)) body.results.push_back(x);
    return true;
  }

  bool ReadProducers() {
    const Dims& domain = problem_.body.domain;
    for (const Kernel& stage : stages_) {
      if (!producers_.contains(&stage)) continue;
      const Side left = SideOf(plan_, *stage.hero, 0);
      const Side right = SideOf(plan_, *stage.hero, 1);
      if (!Outside(left.view.base) || !Outside(right.view.base)) return false;
      const Dims sizes = Concatenated({&left.batch, &left.free, &right.free});
      const Dims none_left(left.free.size(), 0), none_right(right.free.size(), 0);
      const auto rows = ReshapeStrides(
          sizes, Concatenated({&left.batch_steps, &left.free_steps, &none_right}), domain);
      const auto columns = ReshapeStrides(
          sizes, Concatenated({&right.batch_steps, &none_left, &right.free_steps}), domain);
      if (!rows || !columns) return false;
      // A block of rows has one moving operand.
      if ((*columns)[domain.size() - 2] != 0) return false;
      ChainProducer p{.stage = &stage,
                      .k = left.k,
                      .stationary = {left.view, *rows, {}},
                      .moving = {right.view, *columns, {}}};
      std::vector<Dims> steps = {left.k_steps, right.k_steps};
      CollapseDims(p.k, steps);
      if (p.k.empty() || Product(p.k) == 0) return false;
      p.stationary.k = std::move(steps[0]);
      p.moving.k = std::move(steps[1]);
      problem_.producers.push_back(std::move(p));
    }
    return true;
  }

  // Members read each other as they lie, and everything else can be walked over the domain.
  bool BodyFits() const {
    const Kernel& body = problem_.body;
    for (const Instruction* x : body.members) {
      if (IsWide(x->shape().dtype) || !NaturalStrides(x->shape(), body)) return false;
      if (x->opcode() == hlo::Opcode::kDot) continue;
      for (const Instruction* operand : x->operands()) {
        const View& view = plan_.ViewOf(operand);
        const auto strides = OperandStrides(view, body);
        if (!strides) return false;
        if (!in_body_.contains(view.base)) {
          if (Outside(view.base)) continue;
          return false;
        }
        const auto natural = NaturalStrides(view.base->shape(), body);
        if (view.dtype != view.base->shape().dtype || view.offset != 0 ||
            !SameWalk(body.domain, *strides, *natural))
          return false;
      }
    }
    return std::all_of(body.results.begin(), body.results.end(), [&](const Instruction* x) {
      return OperandStrides(store_of_(x), body).has_value();
    });
  }

  // Not a value of another stage.
  bool Outside(const Instruction* base) const {
    return std::none_of(stages_.begin(), stages_.end(), [&](const Kernel& stage) {
      return std::find(stage.members.begin(), stage.members.end(), base) != stage.members.end();
    });
  }

  bool ReadConsumer(const Kernel& stage) {
    const Kernel& body = problem_.body;
    const bool left = in_body_.contains(plan_.ViewOf(stage.hero->operand(0)).base);
    const Side x = SideOf(plan_, *stage.hero, left ? 0 : 1);
    const Side other = SideOf(plan_, *stage.hero, left ? 1 : 0);
    if (!Outside(other.view.base)) return false;
    if (ByteSize(x.view.dtype) < 2) return false;  // its tiles could not be transposed
    if (x.view.offset != 0 || x.view.dtype != x.view.base->shape().dtype ||
        x.view.base->shape().num_elements() != Product(body.domain))
      return false;
    ChainConsumer c;
    c.stage = &stage;
    c.taken = x.view.base;

    // One of the body's dimensions is contracted, wholly.
    const Dims natural = DenseStrides(body.domain);
    const auto is_dim = [&](int d, int64_t size, int64_t step) {
      return body.domain[static_cast<size_t>(d)] == size && natural[static_cast<size_t>(d)] == step;
    };
    Dims k = x.k;
    std::vector<Dims> k_steps = {x.k_steps, other.k_steps};
    CollapseDims(k, k_steps);
    if (k.size() != 1) return false;
    if (is_dim(problem_.row(), k[0], k_steps[0][0]))
      c.contracts_rows = true;
    else if (!is_dim(problem_.column(), k[0], k_steps[0][0]))
      return false;

    // Dimensions of the result, split until each is one of the body's or the width.
    std::vector<bool> seen(body.domain.size(), false);
    seen[static_cast<size_t>(c.contracts_rows ? problem_.row() : problem_.column())] = true;
    c.moving.domain.assign(body.domain.size() + 1, 0);
    const auto add = [&](int64_t size, int64_t x_step, int64_t other_step) {
      if (size == 1) return true;
      // The innermost of the body's dimensions that it covers, then outwards.
      int d = -1;
      for (size_t i = 0; i < natural.size(); ++i)
        if (natural[i] == x_step && body.domain[i] != 1) d = static_cast<int>(i);
      std::vector<int> covered;
      for (; size > 1; --d) {
        if (d < 0 || size % body.domain[static_cast<size_t>(d)] != 0) return false;
        if (seen[static_cast<size_t>(d)] || natural[static_cast<size_t>(d)] != x_step) return false;
        seen[static_cast<size_t>(d)] = true;
        covered.push_back(d);
        c.moving.domain[static_cast<size_t>(d)] = other_step;
        size /= body.domain[static_cast<size_t>(d)];
        x_step *= body.domain[static_cast<size_t>(d)];
        other_step *= body.domain[static_cast<size_t>(d)];
      }
      for (size_t i = covered.size(); i-- > 0;) {
        c.shaped.domain.push_back(body.domain[static_cast<size_t>(covered[i])]);
        c.body_dim.push_back(covered[i]);
      }
      return true;
    };
    const auto add_width = [&] {
      Dims sizes = other.free;
      std::vector<Dims> steps = {other.free_steps};
      CollapseDims(sizes, steps);
      if (sizes.size() != 1) return false;
      c.width = sizes[0];
      c.moving.domain.back() = steps[0][0];
      c.shaped.domain.push_back(sizes[0]);
      c.body_dim.push_back(-1);
      return true;
    };
    const auto add_free = [&] {
      for (size_t d = 0; d < x.free.size(); ++d)
        if (!add(x.free[d], x.free_steps[d], 0)) return false;
      return true;
    };
    for (size_t d = 0; d < x.batch.size(); ++d)
      if (!add(x.batch[d], x.batch_steps[d], other.batch_steps[d])) return false;
    if (left ? !add_free() || !add_width() : !add_width() || !add_free()) return false;
    if (std::find(seen.begin(), seen.end(), false) != seen.end()) return false;
    const auto place = [&](int body_dim) {
      return static_cast<int>(std::find(c.body_dim.begin(), c.body_dim.end(), body_dim) -
                              c.body_dim.begin());
    };
    c.row = place(c.contracts_rows ? problem_.column() : problem_.row());
    c.column = place(-1);
    c.moving.view = other.view;
    c.moving.k = {k_steps[1][0]};
    if (!Shape(stage, c)) return false;
    problem_.consumers.push_back(std::move(c));
    return true;
  }

  // The stage on the consumer's domain; false if its epilogue does not lie on it.
  bool Shape(const Kernel& stage, ChainConsumer& c) const {
    Kernel shaped = stage;
    shaped.domain = c.shaped.domain;
    shaped.reduced.assign(shaped.domain.size(), false);
    shaped.stages.clear();
    std::erase_if(shaped.results, [&](const Instruction* x) { return !results_.contains(x); });
    for (const Instruction* x : shaped.members) {
      if (IsWide(x->shape().dtype)) return false;
      if (x == shaped.hero) continue;
      for (const Instruction* operand : x->operands()) {
        const View& view = plan_.ViewOf(operand);
        const auto strides = OperandStrides(view, shaped);
        if (!strides) return false;
        const bool mine = std::find(shaped.members.begin(), shaped.members.end(), view.base) !=
                          shaped.members.end();
        if (!mine && !Outside(view.base) && !AtHand(view, *strides, c)) return false;
      }
    }
    for (const Instruction* x : shaped.results)
      if (!OperandStrides(store_of_(x), shaped)) return false;
    c.shaped = std::move(shaped);
    return true;
  }

  // A row value of the body, which is in HBM for the rows that the consumer's tile is about.
  bool AtHand(const View& view, const Dims& strides, const ChainConsumer& c) const {
    if (!in_body_.contains(view.base) || !results_.contains(view.base)) return false;
    if (view.offset != 0 || view.dtype != view.base->shape().dtype) return false;
    const int64_t elements = view.base->shape().num_elements();
    if (elements == 1 || elements == Product(problem_.body.domain)) return false;
    // Or the epilogue would load it ahead of its loop over the width.
    if (c.width > kWidthAtOnce) return false;
    const auto natural = NaturalStrides(view.base->shape(), problem_.body);
    for (size_t d = 0; d < strides.size(); ++d) {
      const int from = c.body_dim[d];
      if (strides[d] != (from < 0 ? 0 : (*natural)[static_cast<size_t>(from)])) return false;
    }
    return true;
  }

  const Plan& plan_;
  const std::span<const Kernel> stages_;
  const std::unordered_set<const Instruction*> results_;
  const StoreOf& store_of_;
  std::unordered_set<const Instruction*> in_body_;
  std::unordered_set<const Kernel*> producers_;
  ChainProblem problem_;
};

}  // namespace

std::optional<ChainProblem> MakeChainProblem(const Plan& plan, std::span<const Kernel> stages,
                                             std::span<const Instruction* const> results,
                                             const StoreOf& store_of) {
  return Maker(plan, stages, results, store_of).Run();
}

}  // namespace neuron::compiler
