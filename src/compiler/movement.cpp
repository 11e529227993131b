#include "compiler/movement.h"

#include <algorithm>

#include "compiler/wide.h"
#include "hlo/extent.h"

namespace neuron::compiler {

using hlo::Instruction;
using hlo::Opcode;

namespace {

// Sizes and strides of both sides as one walk: extents of 1 gone, dst's large strides outside,
// neighbours merged.
struct Walk {
  Dims sizes;
  std::vector<Dims> strides;
};

Walk Normalise(Dims sizes, const std::vector<Dims>& strides) {
  std::vector<size_t> order(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(strides[0][a]) > std::abs(strides[0][b]);
  });
  Walk walk;
  walk.strides.resize(strides.size());
  for (size_t i : order) {
    walk.sizes.push_back(sizes[i]);
    for (size_t k = 0; k < strides.size(); ++k) walk.strides[k].push_back(strides[k][i]);
  }
  CollapseDims(walk.sizes, walk.strides);
  return walk;
}

AccessPattern PatternOf(EmitContext& ctx, const HbmView& view, const Dims& sizes,
                        const Dims& strides, const Affine& extra) {
  AccessPattern p;
  p.memory = isa::Memory::kHbm;
  p.dtype = view.dtype;
  p.tensor = view.tensor;
  p.offset = ctx.Sum(view.byte_offset, extra);
  p.partitions = ctx.CountOf(sizes[0]);
  ctx.SetPartitionStep(p, strides[0]);
  p.num_dims = static_cast<uint8_t>(std::max<size_t>(1, sizes.size() - 1));
  p.dims[0] = {1, 1};
  for (size_t i = 1; i < sizes.size(); ++i)
    p.dims[i - 1] = ctx.DimOf(strides[i], ctx.CountOf(sizes[i]));
  return p;
}

// Calls emit(sizes, strides of each side, extra byte offsets of each side) for pieces of at most
// five dimensions; more are loops.
template <typename Emit>
Status ForPieces(EmitContext& ctx, Walk walk, int64_t bytes, std::vector<Affine> extra,
                 const Emit& emit) {
  if (walk.sizes.size() <= 5) return emit(walk, extra);
  const int64_t n = walk.sizes[0];
  const Register i = ctx.b.LoopBegin(Affine(0), ctx.ValueOf(n), 1, ctx.AtBound(n) - 1);
  for (size_t k = 0; k < extra.size(); ++k)
    extra[k] = ctx.Sum(extra[k], ctx.Times(Affine::Of(i), walk.strides[k][0] * bytes));
  walk.sizes.erase(walk.sizes.begin());
  for (Dims& s : walk.strides) s.erase(s.begin());
  NEURON_RETURN_IF_ERROR(ForPieces(ctx, std::move(walk), bytes, std::move(extra), emit));
  ctx.b.LoopEnd();
  return OkStatus();
}

// A flat walk in rows, so that all DMA engines work.
void SplitRows(Walk& walk) {
  if (walk.sizes.size() != 1 || hlo::IsRunTime(walk.sizes[0])) return;
  const int64_t n = walk.sizes[0];
  int64_t rows = 1;
  for (int64_t r : {128, 64, 32, 16, 8, 4, 2})
    if (n % r == 0 && n / r >= 256) {
      rows = r;
      break;
    }
  walk.sizes = {rows, n / rows};
  for (Dims& s : walk.strides) s = {s[0] * (n / rows), s[0]};
}

// Free elements of a fill's tile: a count that SBUF patterns can say.
constexpr int64_t kFillColumns = 2048;

// A row of the value on each partition, so that descriptors are long; rows in rounds of 128.
Status FillRows(EmitContext& ctx, Walk w, const HbmView& dst, DType dtype, double value,
                const Affine& extra) {
  const int64_t bytes = ByteSize(dtype);
  const auto columns = [](const Dims& sizes) {
    int64_t n = 1;
    for (size_t i = 1; i < sizes.size(); ++i) n *= sizes[i];
    return n;
  };
  if (w.sizes.size() > 2 && (columns(w.sizes) > kFillColumns || w.sizes.size() > 5)) {
    const int64_t n = w.sizes[0], step = w.strides[0][0] * bytes;
    w.sizes.erase(w.sizes.begin());
    w.strides[0].erase(w.strides[0].begin());
    if (n == 1) return FillRows(ctx, std::move(w), dst, dtype, value, extra);
    const Register i = ctx.b.LoopBegin(Affine(0), Affine(n), 1, n - 1);
    NEURON_RETURN_IF_ERROR(
        FillRows(ctx, std::move(w), dst, dtype, value, ctx.Sum(extra, Affine::Of(i, step))));
    ctx.b.LoopEnd();
    return OkStatus();
  }
  if (w.sizes.size() == 1) {  // one row
    w.sizes.insert(w.sizes.begin(), 1);
    w.strides[0].insert(w.strides[0].begin(), 0);
  }
  const int64_t rows = w.sizes[0];
  const int64_t partitions = std::min<int64_t>(rows, isa::kPartitions);
  NEURON_ASSIGN_OR_RETURN(const Tile tile,
                          ctx.AllocateTile(dtype, Count(partitions), {Count(columns(w.sizes))}));
  if (IsWide(dtype)) {
    NEURON_RETURN_IF_ERROR(FillWide(ctx, tile.pattern, dtype, value));
  } else {
    ctx.Memset(tile.pattern, value);
  }
  const auto store = [&](const Affine& row, int64_t count) {
    Dims part = w.sizes;
    part[0] = count;
    AccessPattern from = tile.pattern;
    from.partitions = Count(count);
    ctx.DmaCopy(PatternOf(ctx, dst, part, w.strides[0], extra + row * (w.strides[0][0] * bytes)),
                from);
  };
  const int64_t rounds = rows / isa::kPartitions;
  if (rounds > 0) {
    const int64_t last = (rounds - 1) * isa::kPartitions;
    const Register i = ctx.b.LoopBegin(Affine(0), Affine(last + 1), isa::kPartitions, last);
    store(Affine::Of(i), isa::kPartitions);
    ctx.b.LoopEnd();
  }
  const int64_t left = rows % isa::kPartitions;
  if (left > 0) store(Affine(rows - left), left);
  ctx.Free(tile);
  return OkStatus();
}

}  // namespace

HbmView HbmViewOf(EmitContext& ctx, const View& view) {
  if (view.base->opcode() == Opcode::kConstant && !ctx.HasBuffer(view.base))
    ctx.SetBuffer(view.base, ctx.ConstantBuffer(view.base->attributes().literal.bytes()));
  const Buffer buffer = ctx.BufferOf(view.base);
  return {buffer.tensor, TileDType(view.dtype),
          ctx.ValueOf(buffer.byte_offset + view.offset * ByteSize(view.dtype)), view.strides};
}

Status EmitCopy(EmitContext& ctx, Dims sizes, const HbmView& dst, const HbmView& src) {
  if (Product(sizes) == 0) return OkStatus();
  Walk walk = Normalise(std::move(sizes), {dst.strides, src.strides});
  SplitRows(walk);
  return ForPieces(ctx, std::move(walk), ByteSize(dst.dtype), {Affine(0), Affine(0)},
                   [&](const Walk& w, const std::vector<Affine>& extra) {
                     ctx.DmaCopy(PatternOf(ctx, dst, w.sizes, w.strides[0], extra[0]),
                                 PatternOf(ctx, src, w.sizes, w.strides[1], extra[1]));
                     return OkStatus();
                   });
}

Status EmitFill(EmitContext& ctx, Dims sizes, const HbmView& dst, DType dtype, double value) {
  if (Product(sizes) == 0) return OkStatus();
  if (hlo::AnyRunTime(sizes))
    return Unimplemented("compiler: a fill of a size that depends on the run-time extent");
  Walk walk = Normalise(std::move(sizes), {dst.strides});
  const int64_t bytes = ByteSize(dtype);
  // A long run becomes rows, and what is left.
  if (const int64_t n = walk.sizes.back(); n > kFillColumns) {
    const int64_t step = walk.strides[0].back();
    Walk whole = walk, rest = walk;
    whole.sizes.back() = n / kFillColumns;
    whole.strides[0].back() = step * kFillColumns;
    whole.sizes.push_back(kFillColumns);
    whole.strides[0].push_back(step);
    NEURON_RETURN_IF_ERROR(FillRows(ctx, whole, dst, dtype, value, Affine(0)));
    if (n % kFillColumns == 0) return OkStatus();
    rest.sizes.back() = n % kFillColumns;
    return FillRows(ctx, rest, dst, dtype, value, Affine((n - n % kFillColumns) * step * bytes));
  }
  SplitRows(walk);
  return FillRows(ctx, walk, dst, dtype, value, Affine(0));
}

StatusOr<Affine> EmitIndex(EmitContext& ctx, const Instruction* index, int64_t most) {
  const View& view = ctx.plan.ViewOf(index);
  if (view.base->opcode() == Opcode::kConstant) {
    const int64_t at = view.base->attributes().literal.AsInt64(view.offset);
    return Affine(std::clamp<int64_t>(at, 0, most));
  }
  Register from = ctx.ScalarRegister(view.base);
  if (from == isa::kNoRegister) {
    from = ctx.b.AddRegister();
    HbmView place = HbmViewOf(ctx, view);
    AccessPattern one =
        AccessPattern::Hbm(place.dtype, place.tensor, place.byte_offset, 1, 0, {{1, 1}});
    ctx.RegisterLoad(from, one);
  }
  const Register low = ctx.b.AddRegister({.min = 0});
  ctx.RegisterAlu(low, "max", Affine::Of(from), Affine(0));
  const Register clamped = ctx.b.AddRegister({.min = 0, .max = most});
  ctx.RegisterAlu(clamped, "min", Affine::Of(low), Affine(most));
  return Affine::Of(clamped);
}

Status EmitConcatenate(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& x = *kernel.hero;
  HbmView out = HbmViewOf(ctx, View::Of(&x));
  const auto d = static_cast<size_t>(x.attributes().dimensions[0]);
  int64_t at = 0;
  for (const Instruction* part : x.operands()) {
    HbmView to = out;
    to.byte_offset =
        ctx.Sum(to.byte_offset, ctx.ValueOf(at * out.strides[d] * ByteSize(out.dtype)));
    NEURON_RETURN_IF_ERROR(EmitMove(ctx, part->shape().dims, to, ctx.plan.ViewOf(part)));
    at += part->shape().dims[d];
  }
  return OkStatus();
}

Status EmitMove(EmitContext& ctx, const Dims& sizes, const HbmView& dst, const View& src) {
  if (src.base->opcode() == Opcode::kConstant && src.dtype == src.base->shape().dtype &&
      !IsComplex(src.dtype))
    if (const std::optional<double> number = src.base->attributes().literal.SplatNumber())
      return EmitFill(ctx, sizes, dst, src.dtype, *number);
  return EmitCopy(ctx, sizes, dst, HbmViewOf(ctx, src));
}

Status EmitPad(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& x = *kernel.hero;
  const Dims& dims = x.shape().dims;
  const Instruction* operand = x.operand(0);
  HbmView out = HbmViewOf(ctx, View::Of(&x));
  View src = ctx.plan.ViewOf(operand);
  // The padding value over everything, then the operand into its place.
  View value = ctx.plan.ViewOf(x.operand(1));
  value.sizes = dims;
  value.strides.assign(dims.size(), 0);
  NEURON_RETURN_IF_ERROR(EmitMove(ctx, dims, out, value));
  HbmView to = out;
  Dims sizes = operand->shape().dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const hlo::PaddingDimension& p = x.attributes().padding[d];
    const int64_t step = p.interior + 1;
    // Elements of the operand whose place low + i * step is inside.
    const int64_t first = p.low >= 0 ? 0 : (-p.low + step - 1) / step;
    const int64_t last = dims[d] - 1 - p.low < 0 ? -1 : (dims[d] - 1 - p.low) / step;
    const int64_t n = std::min(sizes[d] - 1, last) - first + 1;
    if (n <= 0) return OkStatus();
    src.offset += first * src.strides[d];
    to.byte_offset =
        to.byte_offset + Affine((p.low + first * step) * out.strides[d] * ByteSize(out.dtype));
    to.strides[d] = out.strides[d] * step;
    sizes[d] = n;
  }
  return EmitMove(ctx, sizes, to, src);
}

Status EmitDynamicSlice(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& x = *kernel.hero;
  const Instruction* operand = x.operand(0);
  HbmView from = HbmViewOf(ctx, ctx.plan.ViewOf(operand));
  for (size_t d = 0; d < x.shape().dims.size(); ++d) {
    const int64_t most = operand->shape().dims[d] - x.shape().dims[d];
    if (most == 0) continue;
    NEURON_ASSIGN_OR_RETURN(const Affine start,
                            EmitIndex(ctx, x.operand(static_cast<int64_t>(d) + 1), most));
    from.byte_offset = from.byte_offset + start * (from.strides[d] * ByteSize(from.dtype));
  }
  return EmitCopy(ctx, x.shape().dims, HbmViewOf(ctx, View::Of(&x)), from);
}

Status EmitDynamicUpdateSlice(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& x = *kernel.hero;
  const View& operand = ctx.plan.ViewOf(x.operand(0));
  const Instruction* update = x.operand(1);
  HbmView out = HbmViewOf(ctx, View::Of(&x));
  bool in_place = false;
  if (ctx.HasBuffer(operand.base)) {
    const Buffer from = ctx.BufferOf(operand.base);
    in_place = from.tensor == out.tensor && Affine(from.byte_offset) == out.byte_offset;
  }
  if (!in_place) NEURON_RETURN_IF_ERROR(EmitMove(ctx, x.shape().dims, out, operand));
  for (size_t d = 0; d < x.shape().dims.size(); ++d) {
    const int64_t most = x.shape().dims[d] - update->shape().dims[d];
    if (most == 0) continue;
    NEURON_ASSIGN_OR_RETURN(const Affine start,
                            EmitIndex(ctx, x.operand(static_cast<int64_t>(d) + 2), most));
    out.byte_offset = out.byte_offset + start * (out.strides[d] * ByteSize(out.dtype));
  }
  return EmitMove(ctx, update->shape().dims, out, ctx.plan.ViewOf(update));
}

}  // namespace neuron::compiler
