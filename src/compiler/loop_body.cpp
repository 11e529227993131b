#include "compiler/loop_body.h"

#include <algorithm>

#include "compiler/reduction.h"
#include "compiler/wide.h"
#include "hlo/extent.h"

namespace neuron::compiler {

using hlo::Instruction;
using hlo::Opcode;

namespace {

// The held tile as the free dims `keep` of `spec` see it.
AccessPattern Expand(const Tile& tile, uint32_t axes, const TileSpec& spec, uint32_t keep) {
  AccessPattern p = tile.pattern;
  p.partitions = spec.partition.count;
  p.dims = {};
  int n = 0;
  int have = 0;
  for (size_t i = 0; i < spec.free.size(); ++i) {
    const bool present = (axes >> i & 1) != 0;
    if ((keep >> i & 1) != 0)
      p.dims[static_cast<size_t>(n++)] = {
          present ? tile.pattern.dims[static_cast<size_t>(have)].step : 0, spec.free[i].count};
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

// Its tile is its operand's.
bool IsAlias(const Instruction& op) {
  return op.opcode() == Opcode::kCopy || op.opcode() == Opcode::kReshape;
}

bool TakesScalars(const Instruction& op) {
  return op.operands().size() >= 2 && op.opcode() != Opcode::kSelect &&
         op.opcode() != Opcode::kReduce && op.opcode() != Opcode::kComplex;
}

// Partitions that lie side by side in HBM and a row that does not: the transposing DMA moves whole
// runs where a copy would move elements.
bool TransposeLoad(EmitContext& ctx, const AccessPattern& to, const AccessPattern& from) {
  const int64_t bytes = ByteSize(from.dtype);
  if ((bytes != 2 && bytes != 4) || from.partition_step != 1 || from.partitions.max < 8)
    return false;
  const AccessPattern flat = Simplified(from);
  const isa::Dim& row = flat.dims[0];
  if (flat.num_dims != 1 || row.step == 1 || row.step == 0 || row.count.max < 8) return false;
  AccessPattern rows = flat;
  rows.partitions = row.count;
  rows.partition_step = row.step;
  rows.dims[0] = {1, from.partitions};
  ctx.DmaTranspose(to, rows);
  return true;
}

Status DoesNotFit(const View& view) {
  return Internal("compiler: the view of ", view.base->name(), " does not lie on its kernel");
}

}  // namespace

StatusOr<LoopBody> LoopBody::Create(EmitContext& ctx, const Kernel& kernel) {
  LoopBody body(ctx, kernel);
  NEURON_RETURN_IF_ERROR(body.Resolve());
  if (kernel.kind != KernelKind::kHero) body.Collapse();
  return body;
}

bool LoopBody::IsTransposed(int d) const {
  const auto p = static_cast<size_t>(d);
  return std::any_of(loads_.begin(), loads_.end(), [&](const Load& load) {
    const int64_t size = ByteSize(load.view.dtype);
    return load.view.base->opcode() != Opcode::kIota && (size == 2 || size == 4) &&
           load.strides[p] == 1 && load.strides.back() > 1;
  });
}

bool LoopBody::IsFull(const hlo::Shape& shape) const {
  return shape.num_elements() == Product(kernel_->domain);
}

// Strides per domain dimension in logical order, then kept dimensions moved before reduced ones.
StatusOr<Dims> LoopBody::DomainStrides(const View& view) const {
  const int64_t n = Product(view.sizes);
  Dims out(kernel_->domain.size(), 0);
  if (n == Product(kernel_->domain)) {
    auto strides = ReshapeStrides(view.sizes, view.strides, kernel_->domain);
    if (!strides) return DoesNotFit(view);
    for (size_t d = 0; d < out.size(); ++d) out[static_cast<size_t>(position_[d])] = (*strides)[d];
  } else if (n != 1) {
    auto strides = ReshapeStrides(view.sizes, view.strides, kept_);
    if (!strides) return DoesNotFit(view);
    std::copy(strides->begin(), strides->end(), out.begin());
  }
  return out;
}

StatusOr<LoopBody::Source> LoopBody::SourceOf(const Instruction* operand) {
  const View& view = ctx_->plan.ViewOf(operand);
  const Instruction* base = view.base;
  Source source;
  if (const int m = member_of_[static_cast<size_t>(base->id())]; m >= 0) {
    source.kind = Source::Kind::kMember;
    source.index = m;
    return source;
  }
  if (base->opcode() == Opcode::kConstant && view.dtype == base->shape().dtype)
    if (const std::optional<double> number = base->attributes().literal.SplatNumber()) {
      source.number = *number;
      return source;
    }
  if (base->opcode() == Opcode::kConstant && !ctx_->HasBuffer(base))
    ctx_->SetBuffer(base, ctx_->ConstantBuffer(base->attributes().literal.bytes()));
  Load load;
  load.view = view;
  NEURON_ASSIGN_OR_RETURN(load.strides, DomainStrides(view));
  source.kind = Source::Kind::kLoad;
  if (const Register reg = ctx_->ScalarRegister(base);
      reg != isa::kNoRegister && !IsWide(view.dtype)) {
    source.kind = Source::Kind::kRegister;
    source.reg = reg;
  }
  for (size_t i = 0; i < loads_.size(); ++i)
    if (loads_[i].view.base == load.view.base && loads_[i].view.dtype == load.view.dtype &&
        loads_[i].view.offset == load.view.offset && loads_[i].strides == load.strides) {
      source.index = static_cast<int>(i);
      return source;
    }
  source.index = static_cast<int>(loads_.size());
  loads_.push_back(std::move(load));
  return source;
}

Status LoopBody::Resolve() {
  const Kernel& kernel = *kernel_;
  member_of_.assign(ctx_->plan.kernel_of.size(), -1);
  Dims reduced;
  position_.resize(kernel.domain.size());
  for (size_t d = 0; d < kernel.domain.size(); ++d)
    if (!kernel.reduced[d]) kept_.push_back(kernel.domain[d]);
  int kept = 0;
  int rest = static_cast<int>(kept_.size());
  dims_ = kept_;
  for (size_t d = 0; d < kernel.domain.size(); ++d) {
    position_[d] = kernel.reduced[d] ? rest++ : kept++;
    if (kernel.reduced[d]) dims_.push_back(kernel.domain[d]);
  }
  num_kept_ = static_cast<int>(kept_.size());

  for (const Instruction* x : kernel.members) {
    Member member;
    const int index = static_cast<int>(members_.size());
    member.instruction = x;
    member.last_use = index;
    if (x != kernel.hero && x->opcode() != Opcode::kDot) {
      for (const Instruction* operand : x->operands()) {
        NEURON_ASSIGN_OR_RETURN(Source source, SourceOf(operand));
        member.sources.push_back(source);
      }
    }
    member_of_[static_cast<size_t>(x->id())] = index;
    members_.push_back(std::move(member));
  }
  for (const Instruction* x : kernel.results) {
    Member& member = members_[static_cast<size_t>(member_of_[static_cast<size_t>(x->id())])];
    member.stored = true;
    member.store = ctx_->StoreOf(x);
    NEURON_ASSIGN_OR_RETURN(member.store_strides, DomainStrides(member.store));
  }

  // Last uses, users first; a copy's tile is its operand's.
  for (int i = static_cast<int>(members_.size()) - 1; i >= 0; --i) {
    Member& member = members_[static_cast<size_t>(i)];
    const int use = IsAlias(*member.instruction) ? member.last_use : i;
    for (const Source& s : member.sources) {
      if (s.index < 0) continue;
      int& last = s.kind == Source::Kind::kMember ? members_[static_cast<size_t>(s.index)].last_use
                                                  : loads_[static_cast<size_t>(s.index)].last_use;
      last = std::max(last, use);
    }
  }
  return OkStatus();
}

void LoopBody::Collapse() {
  std::vector<Dims> lists;
  for (const Load& load : loads_) lists.push_back(load.strides);
  for (const Member& member : members_)
    if (member.stored) lists.push_back(member.store_strides);
  const bool has_reduced = num_kept_ < static_cast<int>(dims_.size());
  const int barrier = CollapseDims(dims_, lists, has_reduced ? num_kept_ : -1);
  num_kept_ = has_reduced ? barrier : static_cast<int>(dims_.size());
  size_t k = 0;
  for (Load& load : loads_) load.strides = std::move(lists[k++]);
  for (Member& member : members_)
    if (member.stored) member.store_strides = std::move(lists[k++]);
}

int64_t LoopBody::PeakBytesPerElement() const {
  int64_t peak = 0;
  std::vector<int64_t> first_use(loads_.size(), -1);
  const auto varies = [](const Dims& strides) {
    return std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s != 0; });
  };
  std::vector<int64_t> delta(members_.size() + 1, 0);
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    for (const Source& s : m.sources) {
      if (s.kind != Source::Kind::kLoad || first_use[static_cast<size_t>(s.index)] >= 0) continue;
      const Load& load = loads_[static_cast<size_t>(s.index)];
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

int64_t LoopBody::WidestDenseBytes() const {
  int64_t widest = 1;
  bool dense = true;
  const auto see = [&](const Dims& strides, DType dtype) {
    widest = std::max(widest, ByteSize(dtype));
    dense = dense && (strides.back() == 0 || strides.back() == 1);
  };
  for (const Load& load : loads_) see(load.strides, load.view.dtype);
  for (const Member& member : members_)
    if (member.stored) see(member.store_strides, member.store.dtype);
  return dense ? widest : 0;
}

Status LoopBody::LoadTile(Load& load, const TileSpec& spec) {
  Held& held = load.held;
  held.axes = 0;
  for (size_t i = 0; i < spec.free.size(); ++i)
    if (load.strides[static_cast<size_t>(spec.free[i].dim)] != 0) held.axes |= 1u << i;
  NEURON_ASSIGN_OR_RETURN(Tile tile, ctx_->AllocateTile(load.view.dtype, spec.partition.count,
                                                        CountsOf(spec, held.axes)));
  held.tile = tile;
  held.owned = true;
  if (load.view.base->opcode() != Opcode::kIota) {
    const AccessPattern from = ctx_->HbmPattern(load.view, load.strides, spec, true);
    if (!TransposeLoad(*ctx_, tile.pattern, from)) ctx_->DmaCopy(tile.pattern, from);
    return OkStatus();
  }
  // An iota's value is the address that its view gives. Its steps are static: what else an iota is
  // of comes as a run-time value.
  if (hlo::AnyRunTime(load.strides) || hlo::IsRunTime(load.view.offset))
    return Unimplemented("compiler: an iota whose steps depend on the run-time extent");
  Affine offset(load.view.offset);
  for (size_t d = 0; d < spec.start.size(); ++d)
    if (load.strides[d] != 0) offset = ctx_->Sum(offset, spec.start[d] * load.strides[d]);
  // All of the tile, however much of it is used: its indices count up to constants.
  for (Count* count :
       {&tile.pattern.partitions, &tile.pattern.dims[0].count, &tile.pattern.dims[1].count,
        &tile.pattern.dims[2].count, &tile.pattern.dims[3].count})
    count->reg = isa::kNoRegister;
  std::vector<isa::Dim> steps;
  for (size_t i = 0; i < spec.free.size(); ++i)
    if ((held.axes >> i & 1) != 0)
      steps.push_back({load.strides[static_cast<size_t>(spec.free[i].dim)] * spec.free[i].multiple,
                       Count(spec.free[i].count.max)});
  if (steps.empty()) steps.push_back({0, 1});
  const int64_t per_partition =
      load.strides[static_cast<size_t>(spec.partition.dim)] * spec.partition.multiple;
  if (!IsWide(load.view.dtype)) {
    ctx_->Iota(tile.pattern, steps, offset, per_partition);
    return OkStatus();
  }
  Tile narrow;
  NEURON_ASSIGN_OR_RETURN(
      narrow, ctx_->AllocateTile(DType::kS32, spec.partition.count, CountsOf(spec, held.axes)));
  narrow.pattern.partitions = tile.pattern.partitions;
  for (size_t i = 0; i < narrow.pattern.dims.size(); ++i)
    narrow.pattern.dims[i].count = tile.pattern.dims[i].count;
  ctx_->Iota(narrow.pattern, steps, offset, per_partition);
  NEURON_RETURN_IF_ERROR(WidenInteger(*ctx_, tile.pattern, Arg::OfTile(narrow.pattern)));
  ctx_->Free(narrow);
  return OkStatus();
}

StatusOr<LoopBody::Held*> LoopBody::HeldOf(const Source& source, const TileSpec& spec) {
  if (source.kind == Source::Kind::kMember)
    return &members_[static_cast<size_t>(source.index)].held;
  Load& load = loads_[static_cast<size_t>(source.index)];
  if (!load.held.tile) NEURON_RETURN_IF_ERROR(LoadTile(load, spec));
  return &load.held;
}

Status LoopBody::Begin(const TileSpec& spec, const std::vector<bool>& looped) {
  if (std::find(looped.begin(), looped.end(), true) == looped.end()) return OkStatus();
  for (Load& load : loads_) {
    load.invariant = true;
    for (size_t d = 0; d < looped.size(); ++d)
      if (looped[d] && load.strides[d] != 0) load.invariant = false;
  }
  for (const Member& member : members_)
    for (const Source& s : member.sources) {
      if (s.kind != Source::Kind::kLoad) continue;
      Load& load = loads_[static_cast<size_t>(s.index)];
      if (load.invariant && !load.held.tile) NEURON_RETURN_IF_ERROR(LoadTile(load, spec));
    }
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    member.invariant = IsInvariant(member);
    if (!member.invariant) continue;
    NEURON_RETURN_IF_ERROR(EmitMember(static_cast<int>(i), spec));
    if (member.stored) NEURON_RETURN_IF_ERROR(Store(member, spec));
  }
  // The rest is loaded in the first tile's turn, which is no place for what later ones need if the
  // run-time extent decides how often its loop runs.
  for (Load& load : loads_)
    if (ctx_->options.extent_bound > 0 && !load.held.tile) load.invariant = false;
  return OkStatus();
}

// A scalar of scalars that no loop changes.
bool LoopBody::IsInvariant(const Member& member) const {
  const Instruction& op = *member.instruction;
  if (&op == kernel_->hero || op.opcode() == Opcode::kDot || op.shape().num_elements() != 1 ||
      IsAlias(op) || Product(kernel_->domain) == 1 || op.opcode() == Opcode::kReduce)
    return false;
  return std::all_of(member.sources.begin(), member.sources.end(), [&](const Source& s) {
    switch (s.kind) {
      case Source::Kind::kMember:
        return members_[static_cast<size_t>(s.index)].invariant;
      case Source::Kind::kLoad:
      case Source::Kind::kRegister:
        return s.index < 0 || loads_[static_cast<size_t>(s.index)].invariant;
      default:
        return true;
    }
  });
}

void LoopBody::End() {
  for (Member& member : members_)
    if (member.invariant) {
      if (member.held.owned) ctx_->Free(*member.held.tile);
      member.held = {};
    }
  for (Load& load : loads_)
    if (load.held.tile) {
      ctx_->Free(*load.held.tile);
      load.held = {};
    }
}

void LoopBody::Release(int index) {
  for (Load& load : loads_)
    if (load.last_use == index && load.held.tile && !load.invariant) {
      ctx_->Free(*load.held.tile);
      load.held = {};
    }
  const int count = std::min(index + 1, static_cast<int>(members_.size()));
  for (int i = 0; i < count; ++i) {
    Member& member = members_[static_cast<size_t>(i)];
    if (member.last_use != index || !member.held.tile || member.invariant) continue;
    if (member.held.owned) ctx_->Free(*member.held.tile);
    member.held = {};
  }
}

Status LoopBody::LoadRowValues(const TileSpec& spec) {
  for (const Member& member : members_)
    for (const Source& s : member.sources) {
      if (s.kind != Source::Kind::kLoad) continue;
      Load& load = loads_[static_cast<size_t>(s.index)];
      const bool per_row = std::all_of(
          spec.free.begin(), spec.free.end(),
          [&](const TileAxis& axis) { return load.strides[static_cast<size_t>(axis.dim)] == 0; });
      if (!load.held.tile && (per_row || load.view.base->opcode() == Opcode::kIota))
        NEURON_RETURN_IF_ERROR(LoadTile(load, spec));
    }
  return OkStatus();
}

void LoopBody::Keep(const Instruction* x) {
  int m = member_of_[static_cast<size_t>(x->id())];
  const int kept = static_cast<int>(members_.size());
  while (true) {
    Member& member = members_[static_cast<size_t>(m)];
    member.last_use = kept;
    if (!IsAlias(*member.instruction)) return;
    const Source& from = member.sources[0];  // whose tile it is
    if (from.kind == Source::Kind::kLoad) loads_[static_cast<size_t>(from.index)].last_use = kept;
    if (from.kind != Source::Kind::kMember) return;
    m = from.index;
  }
}

AccessPattern LoopBody::Kept(const Instruction* x, const TileSpec& spec) const {
  const Held& held = members_[static_cast<size_t>(member_of_[static_cast<size_t>(x->id())])].held;
  return Expand(*held.tile, held.axes, spec, (1u << spec.free.size()) - 1);
}

void LoopBody::ReleaseKept() { Release(static_cast<int>(members_.size())); }

Status LoopBody::Store(const Member& member, const TileSpec& spec) {
  const uint32_t all = (1u << spec.free.size()) - 1;
  TileSpec where = spec;
  uint32_t keep = all;
  if (member.instruction->shape().num_elements() == 1) {  // once, not at every place of the tile
    where.partition.count = Count(1);
    where.free.clear();
    AccessPattern value = Expand(*member.held.tile, member.held.axes, where, 0);
    ctx_->DmaCopy(ctx_->HbmPattern(member.store, member.store_strides, where), value);
    return OkStatus();
  }
  if (!IsFull(member.instruction->shape())) {  // a row value: reduced axes are not there
    where.free.clear();
    keep = 0;
    for (size_t i = 0; i < spec.free.size(); ++i)
      if (spec.free[i].dim < num_kept_) keep |= 1u << i, where.free.push_back(spec.free[i]);
  }
  ctx_->DmaCopy(ctx_->HbmPattern(member.store, member.store_strides, where),
                Expand(*member.held.tile, member.held.axes, spec, keep));
  return OkStatus();
}

StatusOr<Tile> LoopBody::TileOfNumber(DType dtype, double number, const TileSpec& spec) {
  NEURON_ASSIGN_OR_RETURN(const Tile tile, ctx_->AllocateTile(dtype, spec.partition.count, {}));
  if (IsWide(dtype))
    NEURON_RETURN_IF_ERROR(FillWide(*ctx_, tile.pattern, dtype, number));
  else
    ctx_->Memset(tile.pattern, number);
  return tile;
}

Status LoopBody::EmitReduce(Member& member, const TileSpec& spec) {
  const DType dtype = member.instruction->shape().dtype;
  Held constant;  // a row of one number
  Held* data = &constant;
  if (member.sources[0].kind == Source::Kind::kNumber) {
    NEURON_ASSIGN_OR_RETURN(constant.tile, TileOfNumber(dtype, member.sources[0].number, spec));
  } else {
    NEURON_ASSIGN_OR_RETURN(data, HeldOf(member.sources[0], spec));
  }
  uint32_t kept = 0;
  int num_reduced = 0;
  for (size_t i = 0; i < spec.free.size(); ++i) {
    if (spec.free[i].dim < num_kept_)
      kept |= 1u << i;
    else
      ++num_reduced;
  }
  const uint32_t all = (1u << spec.free.size()) - 1;
  NEURON_ASSIGN_OR_RETURN(member.held.tile,
                          ctx_->AllocateTile(dtype, spec.partition.count, CountsOf(spec, kept)));
  member.held.axes = kept;
  member.held.owned = true;
  const AccessPattern dst = Expand(*member.held.tile, kept, spec, kept);
  const isa::AluOp op = *ReductionAlu(*member.instruction);
  ctx_->TensorReduce(dst, op, Expand(*data->tile, data->axes, spec, all), num_reduced);
  if (constant.tile) ctx_->Free(*constant.tile);
  const Source& init = member.sources[1];
  if (init.kind == Source::Kind::kNumber) {
    if (!IsIdentity(op, dtype, init.number)) ctx_->TensorScalar(dst, dst, op, init.number);
    return OkStatus();
  }
  NEURON_ASSIGN_OR_RETURN(Held * start, HeldOf(init, spec));
  ctx_->TensorScalar(dst, dst, op, Arg::OfTile(Expand(*start->tile, 0, spec, 0)).AsScalar());
  return OkStatus();
}

Status LoopBody::EmitMember(int index, const TileSpec& spec) {
  Member& member = members_[static_cast<size_t>(index)];
  const Instruction& op = *member.instruction;
  ctx_->SetSource(&op);
  if (op.opcode() == Opcode::kReduce) return EmitReduce(member, spec);

  if (IsAlias(op) && member.sources[0].kind != Source::Kind::kNumber) {
    NEURON_ASSIGN_OR_RETURN(Held * held, HeldOf(member.sources[0], spec));
    member.held = *held;
    member.held.owned = false;
    return OkStatus();
  }
  // The operation runs over the axes along which an operand varies.
  uint32_t axes = 0;
  bool any_tile = false;
  std::vector<Held*> held(member.sources.size(), nullptr);
  for (size_t i = 0; i < held.size(); ++i) {
    const Source& s = member.sources[i];
    const bool scalar =
        s.kind == Source::Kind::kNumber || (s.kind == Source::Kind::kRegister && TakesScalars(op));
    if (scalar) continue;
    NEURON_ASSIGN_OR_RETURN(held[i], HeldOf(s, spec));
    axes |= held[i]->axes;
    any_tile = true;
  }
  if (!any_tile)
    for (size_t i = 0; i < held.size(); ++i)
      if (member.sources[i].kind == Source::Kind::kRegister) {
        NEURON_ASSIGN_OR_RETURN(held[i], HeldOf(member.sources[i], spec));
        any_tile = true;
        break;
      }
  NEURON_ASSIGN_OR_RETURN(
      member.held.tile,
      ctx_->AllocateTile(op.shape().dtype, spec.partition.count, CountsOf(spec, axes)));
  member.held.axes = axes;
  member.held.owned = true;
  const AccessPattern dst = Expand(*member.held.tile, axes, spec, axes);
  std::vector<Arg> args;
  for (size_t i = 0; i < held.size(); ++i) {
    const Source& s = member.sources[i];
    if (held[i] != nullptr)
      args.push_back(Arg::OfTile(Expand(*held[i]->tile, held[i]->axes, spec, axes)));
    else if (s.kind == Source::Kind::kRegister)
      args.push_back(Arg::OfRegister(s.reg));
    else
      args.push_back(Arg::OfNumber(s.number));
  }
  if (!any_tile && !IsAlias(op)) {  // numbers only: the first becomes a tile
    const DType dtype = op.operand(0)->shape().dtype;
    NEURON_ASSIGN_OR_RETURN(const Tile tile, TileOfNumber(dtype, args[0].number, spec));
    args[0] = Arg::OfTile(tile.pattern);
    const Status status = EmitElementwise(*ctx_, op, dst, args);
    ctx_->Free(tile);
    return status;
  }
  return EmitElementwise(*ctx_, op, dst, args);
}

Status LoopBody::Emit(const TileSpec& spec,
                      const std::vector<std::pair<const Instruction*, Tile>>& given) {
  for (const auto& [instruction, tile] : given) {
    Held& held =
        members_[static_cast<size_t>(member_of_[static_cast<size_t>(instruction->id())])].held;
    held.tile = tile;
    held.axes = (1u << spec.free.size()) - 1;
    held.owned = false;
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    if (!member.held.tile) NEURON_RETURN_IF_ERROR(EmitMember(static_cast<int>(i), spec));
    if (member.stored && !member.invariant) NEURON_RETURN_IF_ERROR(Store(member, spec));
    Release(static_cast<int>(i));
  }
  return OkStatus();
}

}  // namespace neuron::compiler
