#include "compiler/loop_load.h"

#include "compiler/wide.h"
#include "hlo/extent.h"

namespace neuron::compiler {
namespace {

using hlo::Opcode;

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

// An iota's value is the address that its view gives. Its steps are static: what else an iota is
// of comes as a run-time value.
Status FillIota(EmitContext& ctx, const LoopLoad& load, const TileSpec& spec) {
  const HeldValue& held = load.held;
  Tile tile = *held.tile;
  if (hlo::AnyRunTime(load.strides) || hlo::IsRunTime(load.view.offset))
    return Unimplemented("compiler: an iota whose steps depend on the run-time extent");
  Affine offset(load.view.offset);
  for (size_t d = 0; d < spec.start.size(); ++d)
    if (load.strides[d] != 0) offset = ctx.Sum(offset, spec.start[d] * load.strides[d]);
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
    ctx.Iota(tile.pattern, steps, offset, per_partition);
    return OkStatus();
  }
  Tile narrow;
  NEURON_ASSIGN_OR_RETURN(
      narrow, ctx.AllocateTile(DType::kS32, spec.partition.count, CountsOf(spec, held.axes)));
  narrow.pattern.partitions = tile.pattern.partitions;
  for (size_t i = 0; i < narrow.pattern.dims.size(); ++i)
    narrow.pattern.dims[i].count = tile.pattern.dims[i].count;
  ctx.Iota(narrow.pattern, steps, offset, per_partition);
  NEURON_RETURN_IF_ERROR(WidenInteger(ctx, tile.pattern, Arg::OfTile(narrow.pattern)));
  ctx.Free(narrow);
  return OkStatus();
}

}  // namespace

Status LoadTile(EmitContext& ctx, LoopLoad& load, const TileSpec& spec) {
  HeldValue& held = load.held;
  held.axes = 0;
  for (size_t i = 0; i < spec.free.size(); ++i)
    if (load.strides[static_cast<size_t>(spec.free[i].dim)] != 0) held.axes |= 1u << i;
  NEURON_ASSIGN_OR_RETURN(held.tile, ctx.AllocateTile(load.view.dtype, spec.partition.count,
                                                      CountsOf(spec, held.axes)));
  held.owned = true;
  if (load.view.base->opcode() != Opcode::kIota) {
    const AccessPattern from = ctx.HbmPattern(load.view, load.strides, spec, true);
    if (!TransposeLoad(ctx, held.tile->pattern, from)) ctx.DmaCopy(held.tile->pattern, from);
    return OkStatus();
  }
  return FillIota(ctx, load, spec);
}

}  // namespace neuron::compiler
