#include "compiler/chain.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/chain_problem.h"
#include "compiler/dot_panel.h"
#include "compiler/kernel_limits.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;

constexpr size_t kReach = 32;  // kernels after the first stage that are looked at
constexpr int64_t kPsumBanks = 8;

int64_t Blocks(int64_t n, int64_t of) { return (n + of - 1) / of; }

// Bytes of a partition that the chain's panels and tiles take at once, about.
int64_t ChainBytes(const Plan& plan, const ChainProblem& p) {
  int64_t bytes = (PeakBytes(plan, p.body) + 8) * p.columns();
  for (const ChainProducer& x : p.producers) {
    const auto slots = static_cast<int64_t>(TilesOfK(x.k).size());
    bytes += slots * (p.columns() * ByteSize(x.moving.view.dtype) +
                      isa::kPartitions * ByteSize(x.stationary.view.dtype));
  }
  for (const ChainConsumer& x : p.consumers) {
    const int64_t slots = x.contracts_rows ? 1 : Blocks(p.columns(), isa::kPartitions);
    bytes += slots * x.width * ByteSize(x.moving.view.dtype);
    if (!x.contracts_rows) bytes += slots * isa::kPartitions * ByteSize(x.taken->shape().dtype);
    bytes += (PeakBytes(plan, x.shaped) + 8) * std::min(x.width, kWidthAtOnce);
  }
  return bytes;
}

bool Fits(const Plan& plan, const ChainProblem& p) {
  int64_t banks = 2 + 2 * static_cast<int64_t>(p.producers.size());
  for (const ChainConsumer& x : p.consumers) {
    if (!x.contracts_rows) continue;
    if (x.width > kWidthAtOnce) return false;
    banks += Blocks(Blocks(p.columns(), isa::kPartitions), kWidthAtOnce / x.width);
  }
  return banks <= kPsumBanks && ChainBytes(plan, p) <= kTileBytes;
}

class Former {
 public:
  Former(const CanonicalModule& canonical, Plan& plan)
      : canonical_(canonical), plan_(plan), root_(*canonical.module.entry()->root()) {}

  void Run() {
    FindReaders();
    for (size_t i = 0; i < plan_.kernels.size(); ++i)
      if (IsDot(plan_.kernels[i])) Form(i);
  }

 private:
  static bool IsDot(const Kernel& kernel) {
    return kernel.kind == KernelKind::kHero && !kernel.members.empty() &&
           kernel.hero->opcode() == hlo::Opcode::kDot && IsTensorEngineDot(*kernel.hero);
  }

  // f(the buffer or member that is read), for every operand of the kernel's members.
  template <typename F>
  void ForEachRead(const Kernel& kernel, const F& f) const {
    for (const Instruction* x : kernel.members)
      for (const Instruction* operand : x->operands())
        if (operand->shape().is_array()) f(plan_.ViewOf(operand).base);
  }

  void FindReaders() {
    readers_.assign(plan_.kernel_of.size(), {});
    for (size_t k = 0; k < plan_.kernels.size(); ++k)
      ForEachRead(plan_.kernels[k], [&](const Instruction* base) {
        auto& list = readers_[static_cast<size_t>(base->id())];
        if (list.empty() || list.back() != k) list.push_back(k);
      });
    is_root_.assign(plan_.kernel_of.size(), false);
    const auto mark = [&](const Instruction* x) {
      is_root_[static_cast<size_t>(plan_.ViewOf(x).base->id())] = true;
    };
    if (root_.opcode() != hlo::Opcode::kTuple) return mark(&root_);
    for (const Instruction* x : root_.operands()) mark(x);
  }

  bool Reads(const Kernel& kernel, const std::vector<size_t>& stages) const {
    bool reads = false;
    ForEachRead(kernel, [&](const Instruction* base) {
      reads = reads || Holds(stages, plan_.KernelOf(base));
    });
    return reads || ReadsPlaced(kernel, stages);
  }
  // True if the kernel reads a buffer in which a value of the stages is only a part.
  bool ReadsPlaced(const Kernel& kernel, const std::vector<size_t>& stages) const {
    bool reads = false;
    for (const size_t stage : stages)
      for (const Instruction* piece : plan_.kernels[stage].members) {
        const auto place = plan_.places.find(piece);
        if (place == plan_.places.end()) continue;
        ForEachRead(kernel,
                    [&](const Instruction* base) { reads = reads || base == place->second.base; });
      }
    return reads;
  }
  static bool Holds(const std::vector<size_t>& stages, int kernel) {
    return kernel >= 0 &&
           std::find(stages.begin(), stages.end(), static_cast<size_t>(kernel)) != stages.end();
  }

  void Form(size_t first) {
    std::vector<size_t> stages = {first};
    const size_t end = std::min(plan_.kernels.size(), first + kReach);
    for (size_t j = first + 1; j < end; ++j) {
      const Kernel& next = plan_.kernels[j];
      if (next.members.empty() || !Reads(next, stages)) continue;
      if (ReadsPlaced(next, stages)) break;
      std::vector<size_t> longer = stages;
      for (size_t producer : OtherProducers(next, stages, j)) longer.push_back(producer);
      longer.push_back(j);
      std::sort(longer.begin(), longer.end());
      if (!Works(longer)) break;  // what follows it would have to wait for it
      stages = std::move(longer);
    }
    // A consumer saves something if nobody else needs its operand in HBM.
    while (stages.size() > 1 && !LastOneGains(stages)) stages.pop_back();
    if (stages.size() > 1) Merge(stages);
  }

  // Dots between that a loop kernel reads beside the chain.
  std::vector<size_t> OtherProducers(const Kernel& next, const std::vector<size_t>& stages,
                                     size_t before) const {
    std::vector<size_t> out;
    if (next.kind != KernelKind::kLoop) return out;
    for (const Instruction* x : next.members)
      for (const Instruction* operand : x->operands()) {
        const int k = plan_.KernelOf(plan_.ViewOf(operand).base);
        if (k <= static_cast<int>(stages[0]) || k >= static_cast<int>(before) || Holds(stages, k) ||
            Holds(out, k))
          continue;
        const Kernel& kernel = plan_.kernels[static_cast<size_t>(k)];
        if (IsDot(kernel) && Product(kernel.domain) == Product(next.domain))
          out.push_back(static_cast<size_t>(k));
      }
    return out;
  }

  std::vector<Kernel> StagesOf(const std::vector<size_t>& stages) const {
    std::vector<Kernel> out;
    for (size_t k : stages) out.push_back(plan_.kernels[k]);
    return out;
  }

  // Members that somebody outside the chain reads, or the epilogue of one of its consumers.
  std::vector<const Instruction*> ResultsOf(const std::vector<size_t>& stages) const {
    std::vector<const Instruction*> out;
    for (size_t s : stages)
      for (const Instruction* x : plan_.kernels[s].results)
        if (IsReadOutside(*x, stages) || IsReadByEpilogue(*x, s, stages)) out.push_back(x);
    return out;
  }
  bool IsReadOutside(const Instruction& x, const std::vector<size_t>& stages) const {
    const auto id = static_cast<size_t>(x.id());
    return is_root_[id] || plan_.places.contains(&x) ||
           std::any_of(readers_[id].begin(), readers_[id].end(),
                       [&](size_t k) { return !Holds(stages, static_cast<int>(k)); });
  }
  bool IsReadByEpilogue(const Instruction& x, size_t own, const std::vector<size_t>& stages) const {
    for (size_t k : readers_[static_cast<size_t>(x.id())]) {
      if (k == own || !Holds(stages, static_cast<int>(k)) || !Consumes(plan_.kernels[k], stages))
        continue;
      for (const Instruction* member : plan_.kernels[k].members)
        for (const Instruction* operand : member->operands())
          if (member != plan_.kernels[k].hero && plan_.ViewOf(operand).base == &x) return true;
    }
    return false;
  }

  bool Works(const std::vector<size_t>& stages) const {
    // No kernel between may need the chain's values: it would come too early.
    for (size_t k = stages.front(); k < stages.back(); ++k)
      if (!Holds(stages, static_cast<int>(k)) && Reads(plan_.kernels[k], stages)) return false;
    const std::vector<Kernel> kernels = StagesOf(stages);
    const auto problem = MakeChainProblem(plan_, kernels, ResultsOf(stages),
                                          [&](const Instruction* x) { return StoreOf(x); });
    return problem && Fits(plan_, *problem);
  }

  // True if the last stage gains from being one.
  bool LastOneGains(const std::vector<size_t>& stages) const {
    const std::vector<size_t> before(stages.begin(), stages.end() - 1);
    const Kernel& last = plan_.kernels[stages.back()];
    if (!Reads(last, before)) return false;  // a producer without its reader
    if (!Consumes(last, before)) return true;
    return std::none_of(last.hero->operands().begin(), last.hero->operands().end(),
                        [&](const Instruction* operand) {
                          const Instruction* base = plan_.ViewOf(operand).base;
                          return Holds(before, plan_.KernelOf(base)) &&
                                 IsReadOutside(*base, stages);
                        });
  }

  // A dot one of whose operands is the chain's.
  bool Consumes(const Kernel& kernel, const std::vector<size_t>& stages) const {
    return IsDot(kernel) &&
           std::any_of(kernel.hero->operands().begin(), kernel.hero->operands().end(),
                       [&](const Instruction* operand) {
                         return Holds(stages, plan_.KernelOf(plan_.ViewOf(operand).base));
                       });
  }

  View StoreOf(const Instruction* x) const {
    if (const auto it = plan_.places.find(x); it != plan_.places.end()) return it->second;
    const auto it = canonical_.stores.find(x);
    return it != canonical_.stores.end() ? it->second : View::Of(x);
  }

  void Merge(const std::vector<size_t>& stages) {
    Kernel chain;
    chain.kind = KernelKind::kChain;
    chain.domain = plan_.kernels[stages[0]].domain;
    chain.reduced.assign(chain.domain.size(), false);
    chain.results = ResultsOf(stages);
    for (size_t k : stages) {
      Kernel& stage = plan_.kernels[k];
      chain.members.insert(chain.members.end(), stage.members.begin(), stage.members.end());
      for (const Instruction* x : stage.members)
        plan_.kernel_of[static_cast<size_t>(x->id())] = static_cast<int>(stages.back());
      chain.stages.push_back(std::move(stage));
      stage = Kernel();
    }
    Kernel& merged = plan_.kernels[stages.back()];
    merged = std::move(chain);
    // What its stages read is the chain's to read now.
    ForEachRead(merged, [&](const Instruction* base) {
      auto& list = readers_[static_cast<size_t>(base->id())];
      std::erase_if(list, [&](size_t k) { return Holds(stages, static_cast<int>(k)); });
      list.insert(std::lower_bound(list.begin(), list.end(), stages.back()), stages.back());
    });
  }

  const CanonicalModule& canonical_;
  Plan& plan_;
  const Instruction& root_;
  std::vector<std::vector<size_t>> readers_;  // kernels, by instruction id
  std::vector<bool> is_root_;                 // by instruction id
};

}  // namespace

void FormChains(const CanonicalModule& canonical, Plan& plan) { Former(canonical, plan).Run(); }

}  // namespace neuron::compiler
