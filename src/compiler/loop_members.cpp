#include "compiler/loop_members.h"

#include <algorithm>

namespace neuron::compiler {

using hlo::Instruction;
using hlo::Opcode;

namespace {

Status DoesNotFit(const View& view) {
  return Internal("compiler: the view of ", view.base->name(), " does not lie on its kernel");
}

class MemberResolver {
 public:
  MemberResolver(EmitContext& ctx, const Kernel& kernel) : ctx_(ctx), kernel_(kernel) {}

  StatusOr<LoopMembers> Run() {
    out_.num_elements = Product(kernel_.domain);
    NEURON_RETURN_IF_ERROR(Resolve());
    if (kernel_.kind != KernelKind::kHero) Collapse();
    return std::move(out_);
  }

 private:
  Status Resolve() {
    out_.member_of.assign(ctx_.plan.kernel_of.size(), -1);
    position_.resize(kernel_.domain.size());
    for (size_t d = 0; d < kernel_.domain.size(); ++d)
      if (!kernel_.reduced[d]) kept_.push_back(kernel_.domain[d]);
    int kept = 0;
    int rest = static_cast<int>(kept_.size());
    out_.dims = kept_;
    for (size_t d = 0; d < kernel_.domain.size(); ++d) {
      position_[d] = kernel_.reduced[d] ? rest++ : kept++;
      if (kernel_.reduced[d]) out_.dims.push_back(kernel_.domain[d]);
    }
    out_.num_kept = static_cast<int>(kept_.size());

    for (const Instruction* x : kernel_.members) {
      LoopMember member;
      const int index = static_cast<int>(out_.members.size());
      member.instruction = x;
      member.last_use = index;
      if (x != kernel_.hero && x->opcode() != Opcode::kDot) {
        for (const Instruction* operand : x->operands()) {
          NEURON_ASSIGN_OR_RETURN(LoopSource source, SourceOf(operand));
          member.sources.push_back(source);
        }
      }
      out_.member_of[static_cast<size_t>(x->id())] = index;
      out_.members.push_back(std::move(member));
    }
    for (const Instruction* x : kernel_.results) {
      LoopMember& member = out_.Of(x);
      member.stored = true;
      member.store = ctx_.StoreOf(x);
      NEURON_ASSIGN_OR_RETURN(member.store_strides, DomainStrides(member.store));
    }

    // Last uses, users first; a copy's tile is its operand's.
    for (int i = static_cast<int>(out_.members.size()) - 1; i >= 0; --i) {
      LoopMember& member = out_.members[static_cast<size_t>(i)];
      const int use = IsAlias(*member.instruction) ? member.last_use : i;
      for (const LoopSource& s : member.sources) {
        if (s.index < 0) continue;
        int& last = s.kind == LoopSource::Kind::kMember
                        ? out_.members[static_cast<size_t>(s.index)].last_use
                        : out_.loads[static_cast<size_t>(s.index)].last_use;
        last = std::max(last, use);
      }
    }
    return OkStatus();
  }

  StatusOr<LoopSource> SourceOf(const Instruction* operand) {
    const View& view = ctx_.plan.ViewOf(operand);
    const Instruction* base = view.base;
    LoopSource source;
    if (const int m = out_.member_of[static_cast<size_t>(base->id())]; m >= 0) {
      source.kind = LoopSource::Kind::kMember;
      source.index = m;
      return source;
    }
    if (base->opcode() == Opcode::kConstant && view.dtype == base->shape().dtype)
      if (const std::optional<double> number = base->attributes().literal.SplatNumber()) {
        source.number = *number;
        return source;
      }
    if (base->opcode() == Opcode::kConstant && !ctx_.HasBuffer(base))
      ctx_.SetBuffer(base, ctx_.ConstantBuffer(base->attributes().literal.bytes()));
    LoopLoad load;
    load.view = view;
    NEURON_ASSIGN_OR_RETURN(load.strides, DomainStrides(view));
    source.kind = LoopSource::Kind::kLoad;
    if (const Register reg = ctx_.ScalarRegister(base);
        reg != isa::kNoRegister && !IsWide(view.dtype)) {
      source.kind = LoopSource::Kind::kRegister;
      source.reg = reg;
    }
    for (size_t i = 0; i < out_.loads.size(); ++i)
      if (out_.loads[i].view.base == load.view.base &&
          out_.loads[i].view.dtype == load.view.dtype &&
          out_.loads[i].view.offset == load.view.offset && out_.loads[i].strides == load.strides) {
        source.index = static_cast<int>(i);
        return source;
      }
    source.index = static_cast<int>(out_.loads.size());
    out_.loads.push_back(std::move(load));
    return source;
  }

  // Strides per domain dimension in logical order, then kept dimensions moved before reduced ones.
  StatusOr<Dims> DomainStrides(const View& view) const {
    const int64_t n = Product(view.sizes);
    Dims out(kernel_.domain.size(), 0);
    if (n == out_.num_elements) {
      auto strides = ReshapeStrides(view.sizes, view.strides, kernel_.domain);
      if (!strides) return DoesNotFit(view);
      for (size_t d = 0; d < out.size(); ++d)
        out[static_cast<size_t>(position_[d])] = (*strides)[d];
    } else if (n != 1) {
      auto strides = ReshapeStrides(view.sizes, view.strides, kept_);
      if (!strides) return DoesNotFit(view);
      std::copy(strides->begin(), strides->end(), out.begin());
    }
    return out;
  }

  void Collapse() {
    std::vector<Dims> lists;
    for (const LoopLoad& load : out_.loads) lists.push_back(load.strides);
    for (const LoopMember& member : out_.members)
      if (member.stored) lists.push_back(member.store_strides);
    const bool has_reduced = out_.num_kept < static_cast<int>(out_.dims.size());
    const int barrier = CollapseDims(out_.dims, lists, has_reduced ? out_.num_kept : -1);
    out_.num_kept = has_reduced ? barrier : static_cast<int>(out_.dims.size());
    size_t k = 0;
    for (LoopLoad& load : out_.loads) load.strides = std::move(lists[k++]);
    for (LoopMember& member : out_.members)
      if (member.stored) member.store_strides = std::move(lists[k++]);
  }

  EmitContext& ctx_;
  const Kernel& kernel_;
  LoopMembers out_;
  Dims kept_;                  // the domain's kept dims, before collapsing
  std::vector<int> position_;  // of each domain dim in out_.dims, before collapsing
};

}  // namespace

AccessPattern HeldValue::On(const TileSpec& spec, uint32_t keep) const {
  AccessPattern p = tile->pattern;
  p.partitions = spec.partition.count;
  p.dims = {};
  int n = 0;
  int have = 0;
  for (size_t i = 0; i < spec.free.size(); ++i) {
    const bool present = (axes >> i & 1) != 0;
    if ((keep >> i & 1) != 0)
      p.dims[static_cast<size_t>(n++)] = {
          present ? tile->pattern.dims[static_cast<size_t>(have)].step : 0, spec.free[i].count};
    if (present) ++have;
  }
  if (n == 0) p.dims[static_cast<size_t>(n++)] = {1, 1};
  p.num_dims = static_cast<uint8_t>(n);
  return p;
}

std::vector<Count> CountsOf(const TileSpec& spec, uint32_t axes) {
  std::vector<Count> out;
  for (size_t i = 0; i < spec.free.size(); ++i)
    if ((axes >> i & 1) != 0) out.push_back(spec.free[i].count);
  return out;
}

bool IsAlias(const Instruction& op) {
  return op.opcode() == Opcode::kCopy || op.opcode() == Opcode::kReshape;
}

bool LoopMembers::IsTransposed(int d) const {
  const auto p = static_cast<size_t>(d);
  return std::any_of(loads.begin(), loads.end(), [&](const LoopLoad& load) {
    const int64_t size = ByteSize(load.view.dtype);
    return load.view.base->opcode() != Opcode::kIota && (size == 2 || size == 4) &&
           load.strides[p] == 1 && load.strides.back() > 1;
  });
}

int64_t LoopMembers::PeakBytesPerElement() const {
  int64_t peak = 0;
  std::vector<int64_t> first_use(loads.size(), -1);
  const auto varies = [](const Dims& strides) {
    return std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s != 0; });
  };
  std::vector<int64_t> delta(members.size() + 1, 0);
  for (size_t i = 0; i < members.size(); ++i) {
    const LoopMember& m = members[i];
    for (const LoopSource& s : m.sources) {
      if (s.kind != LoopSource::Kind::kLoad || first_use[static_cast<size_t>(s.index)] >= 0)
        continue;
      const LoopLoad& load = loads[static_cast<size_t>(s.index)];
      first_use[static_cast<size_t>(s.index)] = static_cast<int64_t>(i);
      if (!varies(load.strides)) continue;
      delta[i] += ByteSize(load.view.dtype);
      delta[static_cast<size_t>(load.last_use) + 1] -= ByteSize(load.view.dtype);
    }
    if (!IsFull(m.instruction->shape()) || IsAlias(*m.instruction)) continue;
    delta[i] += ByteSize(m.instruction->shape().dtype);
    delta[static_cast<size_t>(m.last_use) + 1] -= ByteSize(m.instruction->shape().dtype);
  }
  int64_t live = 0;
  for (int64_t d : delta) peak = std::max(peak, live += d);
  return peak + 8;  // intermediates of single instructions
}

int64_t LoopMembers::WidestDenseBytes() const {
  int64_t widest = 1;
  bool dense = true;
  const auto see = [&](const Dims& strides, DType dtype) {
    widest = std::max(widest, ByteSize(dtype));
    dense = dense && (strides.back() == 0 || strides.back() == 1);
  };
  for (const LoopLoad& load : loads) see(load.strides, load.view.dtype);
  for (const LoopMember& member : members)
    if (member.stored) see(member.store_strides, member.store.dtype);
  return dense ? widest : 0;
}

StatusOr<LoopMembers> ResolveMembers(EmitContext& ctx, const Kernel& kernel) {
  return MemberResolver(ctx, kernel).Run();
}

}  // namespace neuron::compiler
