#include "compiler/loop_body.h"

#include <algorithm>

#include "compiler/loop_load.h"
#include "compiler/reduction.h"
#include "compiler/wide.h"

namespace neuron::compiler {

using hlo::Instruction;
using hlo::Opcode;

namespace {

bool TakesScalars(const Instruction& op) {
  return op.operands().size() >= 2 && op.opcode() != Opcode::kSelect &&
         op.opcode() != Opcode::kReduce && op.opcode() != Opcode::kComplex;
}

}  // namespace

StatusOr<LoopBody> LoopBody::Create(EmitContext& ctx, const Kernel& kernel) {
  NEURON_ASSIGN_OR_RETURN(LoopMembers all, ResolveMembers(ctx, kernel));
  return LoopBody(ctx, kernel, std::move(all));
}

StatusOr<HeldValue*> LoopBody::HeldOf(const LoopSource& source, const TileSpec& spec) {
  if (source.kind == LoopSource::Kind::kMember)
    return &all_.members[static_cast<size_t>(source.index)].held;
  LoopLoad& load = all_.loads[static_cast<size_t>(source.index)];
  if (!load.held.tile) NEURON_RETURN_IF_ERROR(LoadTile(*ctx_, load, spec));
  return &load.held;
}

Status LoopBody::Begin(const TileSpec& spec, const std::vector<bool>& looped) {
  if (std::find(looped.begin(), looped.end(), true) == looped.end()) return OkStatus();
  for (LoopLoad& load : all_.loads) {
    load.invariant = true;
    for (size_t d = 0; d < looped.size(); ++d)
      if (looped[d] && load.strides[d] != 0) load.invariant = false;
  }
  for (const LoopMember& member : all_.members)
    for (const LoopSource& s : member.sources) {
      if (s.kind != LoopSource::Kind::kLoad) continue;
      LoopLoad& load = all_.loads[static_cast<size_t>(s.index)];
      if (load.invariant && !load.held.tile) NEURON_RETURN_IF_ERROR(LoadTile(*ctx_, load, spec));
    }
  for (size_t i = 0; i < all_.members.size(); ++i) {
    LoopMember& member = all_.members[i];
    member.invariant = IsInvariant(member);
    if (!member.invariant) continue;
    NEURON_RETURN_IF_ERROR(EmitMember(static_cast<int>(i), spec));
    if (member.stored) NEURON_RETURN_IF_ERROR(Store(member, spec));
  }
  // The rest is loaded in the first tile's turn, which is no place for what later ones need if the
  // run-time extent decides how often its loop runs.
  for (LoopLoad& load : all_.loads)
    if (ctx_->options.extent_bound > 0 && !load.held.tile) load.invariant = false;
  return OkStatus();
}

// A scalar of scalars that no loop changes.
bool LoopBody::IsInvariant(const LoopMember& member) const {
  const Instruction& op = *member.instruction;
  if (&op == kernel_->hero || op.opcode() == Opcode::kDot || op.shape().num_elements() != 1 ||
      IsAlias(op) || Product(kernel_->domain) == 1 || op.opcode() == Opcode::kReduce)
    return false;
  return std::all_of(member.sources.begin(), member.sources.end(), [&](const LoopSource& s) {
    switch (s.kind) {
      case LoopSource::Kind::kMember:
        return all_.members[static_cast<size_t>(s.index)].invariant;
      case LoopSource::Kind::kLoad:
      case LoopSource::Kind::kRegister:
        return s.index < 0 || all_.loads[static_cast<size_t>(s.index)].invariant;
      default:
        return true;
    }
  });
}

void LoopBody::End() {
  for (LoopMember& member : all_.members)
    if (member.invariant) {
      if (member.held.owned) ctx_->Free(*member.held.tile);
      member.held = {};
    }
  for (LoopLoad& load : all_.loads)
    if (load.held.tile) {
      ctx_->Free(*load.held.tile);
      load.held = {};
    }
}

void LoopBody::Release(int index) {
  for (LoopLoad& load : all_.loads)
    if (load.last_use == index && load.held.tile && !load.invariant) {
      ctx_->Free(*load.held.tile);
      load.held = {};
    }
  const int count = std::min(index + 1, static_cast<int>(all_.members.size()));
  for (int i = 0; i < count; ++i) {
    LoopMember& member = all_.members[static_cast<size_t>(i)];
    if (member.last_use != index || !member.held.tile || member.invariant) continue;
    if (member.held.owned) ctx_->Free(*member.held.tile);
    member.held = {};
  }
}

Status LoopBody::LoadRowValues(const TileSpec& spec) {
  for (const LoopMember& member : all_.members)
    for (const LoopSource& s : member.sources) {
      if (s.kind != LoopSource::Kind::kLoad) continue;
      LoopLoad& load = all_.loads[static_cast<size_t>(s.index)];
      const bool per_row = std::all_of(
          spec.free.begin(), spec.free.end(),
          [&](const TileAxis& axis) { return load.strides[static_cast<size_t>(axis.dim)] == 0; });
      if (!load.held.tile && (per_row || load.view.base->opcode() == Opcode::kIota))
        NEURON_RETURN_IF_ERROR(LoadTile(*ctx_, load, spec));
    }
  return OkStatus();
}

void LoopBody::Keep(const Instruction* x) {
  int m = all_.member_of[static_cast<size_t>(x->id())];
  const int kept = static_cast<int>(all_.members.size());
  while (true) {
    LoopMember& member = all_.members[static_cast<size_t>(m)];
    member.last_use = kept;
    if (!IsAlias(*member.instruction)) return;
    const LoopSource& from = member.sources[0];  // whose tile it is
    if (from.kind == LoopSource::Kind::kLoad)
      all_.loads[static_cast<size_t>(from.index)].last_use = kept;
    if (from.kind != LoopSource::Kind::kMember) return;
    m = from.index;
  }
}

AccessPattern LoopBody::Kept(const Instruction* x, const TileSpec& spec) const {
  const HeldValue& held = all_.Of(x).held;
  return held.On(spec, (1u << spec.free.size()) - 1);
}

void LoopBody::ReleaseKept() { Release(static_cast<int>(all_.members.size())); }

Status LoopBody::Store(const LoopMember& member, const TileSpec& spec) {
  const uint32_t all = (1u << spec.free.size()) - 1;
  TileSpec where = spec;
  uint32_t keep = all;
  if (member.instruction->shape().num_elements() == 1) {  // once, not at every place of the tile
    where.partition.count = Count(1);
    where.free.clear();
    AccessPattern value = member.held.On(where, 0);
    ctx_->DmaCopy(ctx_->HbmPattern(member.store, member.store_strides, where), value);
    return OkStatus();
  }
  if (!all_.IsFull(member.instruction->shape())) {  // a row value: reduced axes are not there
    where.free.clear();
    keep = 0;
    for (size_t i = 0; i < spec.free.size(); ++i)
      if (spec.free[i].dim < all_.num_kept) keep |= 1u << i, where.free.push_back(spec.free[i]);
  }
  ctx_->DmaCopy(ctx_->HbmPattern(member.store, member.store_strides, where),
                member.held.On(spec, keep));
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

Status LoopBody::EmitReduce(LoopMember& member, const TileSpec& spec) {
  const DType dtype = member.instruction->shape().dtype;
  HeldValue constant;  // a row of one number
  HeldValue* data = &constant;
  if (member.sources[0].kind == LoopSource::Kind::kNumber) {
    NEURON_ASSIGN_OR_RETURN(constant.tile, TileOfNumber(dtype, member.sources[0].number, spec));
  } else {
    NEURON_ASSIGN_OR_RETURN(data, HeldOf(member.sources[0], spec));
  }
  uint32_t kept = 0;
  int num_reduced = 0;
  for (size_t i = 0; i < spec.free.size(); ++i) {
    if (spec.free[i].dim < all_.num_kept)
      kept |= 1u << i;
    else
      ++num_reduced;
  }
  const uint32_t all = (1u << spec.free.size()) - 1;
  NEURON_ASSIGN_OR_RETURN(member.held.tile,
                          ctx_->AllocateTile(dtype, spec.partition.count, CountsOf(spec, kept)));
  member.held.axes = kept;
  member.held.owned = true;
  const AccessPattern dst = member.held.On(spec, kept);
  const isa::AluOp op = *ReductionAlu(*member.instruction);
  ctx_->TensorReduce(dst, op, data->On(spec, all), num_reduced);
  if (constant.tile) ctx_->Free(*constant.tile);
  const LoopSource& init = member.sources[1];
  if (init.kind == LoopSource::Kind::kNumber) {
    if (!IsIdentity(op, dtype, init.number)) ctx_->TensorScalar(dst, dst, op, init.number);
    return OkStatus();
  }
  NEURON_ASSIGN_OR_RETURN(HeldValue * start, HeldOf(init, spec));
  ctx_->TensorScalar(dst, dst, op, Arg::OfTile(start->On(spec, 0)).AsScalar());
  return OkStatus();
}

Status LoopBody::EmitMember(int index, const TileSpec& spec) {
  LoopMember& member = all_.members[static_cast<size_t>(index)];
  const Instruction& op = *member.instruction;
  ctx_->SetSource(&op);
  if (op.opcode() == Opcode::kReduce) return EmitReduce(member, spec);

  if (IsAlias(op) && member.sources[0].kind != LoopSource::Kind::kNumber) {
    NEURON_ASSIGN_OR_RETURN(HeldValue * held, HeldOf(member.sources[0], spec));
    member.held = *held;
    member.held.owned = false;
    return OkStatus();
  }
  // The operation runs over the axes along which an operand varies.
  uint32_t axes = 0;
  bool any_tile = false;
  std::vector<HeldValue*> held(member.sources.size(), nullptr);
  for (size_t i = 0; i < held.size(); ++i) {
    const LoopSource& s = member.sources[i];
    const bool scalar = s.kind == LoopSource::Kind::kNumber ||
                        (s.kind == LoopSource::Kind::kRegister && TakesScalars(op));
    if (scalar) continue;
    NEURON_ASSIGN_OR_RETURN(held[i], HeldOf(s, spec));
    axes |= held[i]->axes;
    any_tile = true;
  }
  if (!any_tile)
    for (size_t i = 0; i < held.size(); ++i)
      if (member.sources[i].kind == LoopSource::Kind::kRegister) {
        NEURON_ASSIGN_OR_RETURN(held[i], HeldOf(member.sources[i], spec));
        any_tile = true;
        break;
      }
  NEURON_ASSIGN_OR_RETURN(
      member.held.tile,
      ctx_->AllocateTile(op.shape().dtype, spec.partition.count, CountsOf(spec, axes)));
  member.held.axes = axes;
  member.held.owned = true;
  const AccessPattern dst = member.held.On(spec, axes);
  std::vector<Arg> args;
  for (size_t i = 0; i < held.size(); ++i) {
    const LoopSource& s = member.sources[i];
    if (held[i] != nullptr)
      args.push_back(Arg::OfTile(held[i]->On(spec, axes)));
    else if (s.kind == LoopSource::Kind::kRegister)
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
    HeldValue& held = all_.Of(instruction).held;
    held.tile = tile;
    held.axes = (1u << spec.free.size()) - 1;
    held.owned = false;
  }
  for (size_t i = 0; i < all_.members.size(); ++i) {
    LoopMember& member = all_.members[i];
    if (!member.held.tile) NEURON_RETURN_IF_ERROR(EmitMember(static_cast<int>(i), spec));
    if (member.stored && !member.invariant) NEURON_RETURN_IF_ERROR(Store(member, spec));
    Release(static_cast<int>(i));
  }
  return OkStatus();
}

}  // namespace neuron::compiler
