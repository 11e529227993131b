#include "compiler/indirect.h"

#include <algorithm>

#include "compiler/irregular.h"
#include "compiler/movement.h"
#include "compiler/operands.h"
#include "compiler/reduction.h"
#include "compiler/tiling.h"
#include "hlo/extent.h"

namespace neuron::compiler {
namespace {

using isa::AluOp;

// The operand [.., extent, ..] and the other side [.., indices.., ..]: slice number i of the other
// side belongs to slice index[i] of the operand.
struct SliceProblem {
  int64_t extent = 0;      // of the indexed dimension
  int64_t step = 0;        // operand elements from one slice to the next
  int64_t count = 0;       // of indices
  int64_t other_step = 0;  // elements from one slice to the next on the other side
  View index;
  int64_t index_step = 0;  // elements from one index to the next
  // A slice's dimensions, joined.
  Dims sizes, operand_strides, other_strides;
};

bool Has(const Dims& list, size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(value)) != list.end();
}

// Slices along operand dimension `dim`, whose window dimensions are `window_dims` of the other
// side; nullopt if the strides do not nest.
std::optional<SliceProblem> MakeProblem(int64_t dim, const View& operand, const View& other,
                                        const View& index, int64_t index_vector_dim,
                                        const Dims& window_dims) {
  SliceProblem p;
  const auto d = static_cast<size_t>(dim);
  p.extent = operand.sizes[d];
  p.step = operand.strides[d];
  p.index = index;
  // Index positions in row-major order, on both sides.
  Dims sizes, index_strides, other_strides;
  for (size_t i = 0; i < index.sizes.size(); ++i) {
    if (static_cast<int64_t>(i) == index_vector_dim) continue;
    sizes.push_back(index.sizes[i]);
    index_strides.push_back(index.strides[i]);
  }
  for (size_t i = 0; i < other.sizes.size(); ++i)
    if (!Has(window_dims, i)) other_strides.push_back(other.strides[i]);
  if (other_strides.size() != sizes.size()) return std::nullopt;
  std::vector<Dims> lists = {index_strides, other_strides};
  CollapseDims(sizes, lists);
  if (sizes.size() != 1) return std::nullopt;
  p.count = sizes[0];
  p.index_step = lists[0][0];
  p.other_step = lists[1][0];
  for (size_t i = 0; i < operand.sizes.size(); ++i) {
    if (i == d) continue;
    p.operand_strides.push_back(operand.strides[i]);
    p.sizes.push_back(operand.sizes[i]);
  }
  if (window_dims.size() != p.sizes.size()) return std::nullopt;
  for (size_t i = 0; i < window_dims.size(); ++i) {
    const auto w = static_cast<size_t>(window_dims[i]);
    if (other.sizes[w] != p.sizes[i]) return std::nullopt;
    p.other_strides.push_back(other.strides[w]);
  }
  lists = {p.operand_strides, p.other_strides};
  CollapseDims(p.sizes, lists);
  p.operand_strides = lists[0];
  p.other_strides = lists[1];
  if (p.sizes.size() > AccessPattern::kMaxDims) return std::nullopt;
  return p;
}

AccessPattern Slices(DType dtype, uint16_t tensor, const Affine& offset, Count rows, int64_t step,
                     const Dims& sizes, const Dims& strides) {
  AccessPattern p = AccessPattern::Hbm(dtype, tensor, offset, rows, step, {});
  p.num_dims = static_cast<uint8_t>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) p.dims[i] = {strides[i], Count(sizes[i])};
  return Simplified(p);
}

isa::Operand LastIndex(EmitContext& ctx, int64_t extent) {
  if (!ctx.IsRunTime(extent)) return static_cast<double>(extent - 1);
  return isa::RegisterOperand{ctx.RegisterOf(extent - 1)};
}

// The number of indices may be a run-time one; slices are static.
Status CheckExtents(const SliceProblem& p) {
  for (const Dims* numbers : {&p.sizes, &p.operand_strides, &p.other_strides})
    if (hlo::AnyRunTime(*numbers)) return Unimplemented("compiler: slices of a run-time extent");
  for (const int64_t n : {p.step, p.other_step, p.index_step, p.index.offset})
    if (hlo::IsRunTime(n)) return Unimplemented("compiler: indices into a run-time extent");
  return OkStatus();
}

// Calls body(index tile [rows, 1], first index, rows) for all indices, 128 at a time. `clamp`: into
// [0, extent), as gather does.
template <typename Body>
Status ForEachIndexTile(EmitContext& ctx, const SliceProblem& p, bool clamp, const Body& body) {
  if (ctx.options.extent_bound > 0) NEURON_RETURN_IF_ERROR(CheckExtents(p));
  const Buffer buffer = ctx.BufferOf(p.index.base);
  const int64_t bytes = ByteSize(p.index.dtype);
  return ForEachCounted(
      ctx, p.count, isa::kPartitions, false, [&](Affine start, Count rows) -> Status {
        NEURON_ASSIGN_OR_RETURN(const Tile index,
                                ctx.AllocateTile(p.index.dtype, rows, {Count(1)}));
        ctx.DmaCopy(index.pattern,
                    AccessPattern::Hbm(p.index.dtype, buffer.tensor,
                                       Affine(buffer.byte_offset + p.index.offset * bytes) +
                                           start * (p.index_step * bytes),
                                       rows, p.index_step, {{1, 1}}));
        if (clamp)
          ctx.TensorScalar2(index.pattern, index.pattern, AluOp::kMaximum, 0.0, false,
                            AluOp::kMinimum, LastIndex(ctx, p.extent), false);
        body(index.pattern, start, rows);
        ctx.Free(index);
        return OkStatus();
      });
}

constexpr int64_t kErrorIfOutside = 0, kSkipIfOutside = 1;
constexpr int64_t kSourceSide = 0, kDestinationSide = 1;

bool IsIndex(DType dtype) { return dtype == DType::kS32 || dtype == DType::kU32; }

}  // namespace

namespace {
Status GeneralGather(EmitContext& ctx, const Kernel& kernel) {
  if (ctx.options.extent_bound > 0)
    return Unimplemented("compiler: a general gather beside a run-time extent");
  return EmitGatherGeneral(ctx, kernel);
}
}  // namespace

Status EmitGather(EmitContext& ctx, const Kernel& kernel) {
  const hlo::Instruction& gather = *kernel.hero;
  const hlo::GatherDimensions& d = gather.attributes().gather;
  if (gather.shape().num_elements() == 0) return OkStatus();
  const Dims& dims = gather.operand(0)->shape().dims;
  bool slices = d.start_index_map.size() == 1 && d.collapsed_slice_dims == d.start_index_map &&
                d.operand_batching_dims.empty();
  for (size_t i = 0; slices && i < dims.size(); ++i)
    slices = d.slice_sizes[i] == (Has(d.start_index_map, i) ? 1 : dims[i]);
  if (!slices) return GeneralGather(ctx, kernel);
  NEURON_ASSIGN_OR_RETURN(const View operand, OperandView(ctx, gather.operand(0)));
  NEURON_ASSIGN_OR_RETURN(const View indices, OperandView(ctx, gather.operand(1)));
  // An index beyond 32 bits must clamp, which its low word would not tell.
  const bool narrow = IsIndex(indices.dtype);
  const auto p = narrow ? MakeProblem(d.start_index_map[0], operand, View::Of(&gather), indices,
                                      d.index_vector_dim, d.offset_dims)
                        : std::nullopt;
  if (!p) return GeneralGather(ctx, kernel);
  const Buffer from = ctx.BufferOf(operand.base), to = ctx.BufferOf(&gather);
  const DType dtype = TileDType(operand.dtype);
  const int64_t bytes = ByteSize(dtype);
  return ForEachIndexTile(
      ctx, *p, true, [&](const AccessPattern& index, const Affine& start, Count rows) {
        ctx.b.Emit(
            isa::Opcode::dma_copy, isa::Engine::kDma,
            {Slices(dtype, to.tensor, Affine(to.byte_offset) + start * (p->other_step * bytes),
                    rows, p->other_step, p->sizes, p->other_strides),
             Slices(dtype, from.tensor, Affine(from.byte_offset + operand.offset * bytes), rows, 0,
                    p->sizes, p->operand_strides),
             index, kSourceSide, p->step, ctx.ValueOf(p->extent), kErrorIfOutside});
      });
}

Status EmitScatter(EmitContext& ctx, const Kernel& kernel) {
  const hlo::Instruction& scatter = *kernel.hero;
  if (!scatter.shape().is_array()) return EmitScatterGeneral(ctx, kernel);
  const hlo::ScatterDimensions& d = scatter.attributes().scatter;
  const DType dtype = scatter.shape().dtype;
  const hlo::Instruction* root = scatter.called()[0]->root();
  const bool assigns =
      root->opcode() == hlo::Opcode::kParameter && root->attributes().parameter_number == 1;
  const bool adds = ReductionAlu(scatter) == AluOp::kAdd && !IsWide(dtype);
  const bool slices = (assigns || adds) && d.scatter_dims_to_operand_dims.size() == 1 &&
                      d.inserted_window_dims == d.scatter_dims_to_operand_dims &&
                      d.input_batching_dims.empty();
  if (!slices || scatter.shape().num_elements() == 0) return EmitScatterGeneral(ctx, kernel);
  NEURON_ASSIGN_OR_RETURN(const View operand, OperandView(ctx, scatter.operand(0)));
  NEURON_ASSIGN_OR_RETURN(const View indices, OperandView(ctx, scatter.operand(1)));
  NEURON_ASSIGN_OR_RETURN(const View updates, OperandView(ctx, scatter.operand(2)));
  const View out = View::Of(&scatter);
  const auto p = IsIndex(indices.dtype)
                     ? MakeProblem(d.scatter_dims_to_operand_dims[0], out, updates, indices,
                                   d.index_vector_dim, d.update_window_dims)
                     : std::nullopt;
  if (!p) return EmitScatterGeneral(ctx, kernel);
  const Buffer from = ctx.BufferOf(updates.base), to = ctx.BufferOf(&scatter);
  const Buffer old = ctx.BufferOf(operand.base);
  if (old.tensor != to.tensor || old.byte_offset != to.byte_offset || !operand.IsDense() ||
      operand.offset != 0)
    NEURON_RETURN_IF_ERROR(EmitCopy(ctx, out.sizes, HbmViewOf(ctx, out), HbmViewOf(ctx, operand)));
  const DType tile = TileDType(dtype);
  const int64_t bytes = ByteSize(tile);
  return ForEachIndexTile(
      ctx, *p, false, [&](const AccessPattern& index, const Affine& start, Count rows) {
        const AccessPattern dst =
            Slices(tile, to.tensor, Affine(to.byte_offset), rows, 0, p->sizes, p->operand_strides);
        const AccessPattern src = Slices(
            tile, from.tensor,
            Affine(from.byte_offset + updates.offset * bytes) + start * (p->other_step * bytes),
            rows, p->other_step, p->sizes, p->other_strides);
        if (assigns)
          ctx.b.Emit(
              isa::Opcode::dma_copy, isa::Engine::kDma,
              {dst, src, index, kDestinationSide, p->step, ctx.ValueOf(p->extent), kSkipIfOutside});
        else
          ctx.b.Emit(isa::Opcode::dma_compute, isa::Engine::kDma,
                     {dst, AluOp::kAdd, index, kDestinationSide, p->step, ctx.ValueOf(p->extent),
                      kSkipIfOutside, src});
      });
}

}  // namespace neuron::compiler
