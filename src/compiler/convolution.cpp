#include "compiler/convolution.h"

#include "compiler/conv_mappings.h"

namespace neuron::compiler {
namespace {

bool IsFloat(DType t) {
  return t == DType::kF32 || t == DType::kBF16 || t == DType::kF16 || t == DType::kF8E5M2 ||
         t == DType::kF8E4M3;
}

}  // namespace

std::vector<Count> FreeCounts(const ConvTile& tile) {
  std::vector<Count> counts;
  if (!tile.batch_inside) counts.emplace_back(tile.batch);
  for (const int64_t places : tile.places) counts.emplace_back(places);
  if (tile.batch_inside) counts.emplace_back(tile.batch);
  return counts;
}

Affine ConvAddress(const ConvOperand& operand, const Affine& group, const Affine& outer,
                   int64_t inner, const std::vector<Affine>& spatial) {
  Affine at = group * operand.group + outer * operand.outer + Affine(inner * operand.inner);
  for (size_t d = 0; d < spatial.size(); ++d) at = at + spatial[d] * operand.spatial[d];
  return at * ByteSize(operand.dtype) + Affine(operand.byte_offset);
}

Status EvacuateConv(EmitContext& ctx, const Kernel& kernel, LoopBody& body, const ConvProblem& p,
                    const ConvTile& tile, const Tile& sum, TakingTurns& values) {
  NEURON_ASSIGN_OR_RETURN(
      const Tile value,
      ctx.AllocateTile(kernel.hero->shape().dtype, Count(tile.outputs), FreeCounts(tile)));
  ctx.TensorCopy(value.pattern, sum.pattern);
  NEURON_RETURN_IF_ERROR(body.Emit(SpecOf(p, kernel.domain.size(), tile), {{kernel.hero, value}}));
  values.Done(value);
  return OkStatus();
}

Status EmitConvolution(EmitContext& ctx, const Kernel& kernel) {
  const hlo::Instruction& conv = *kernel.hero;
  if (conv.shape().num_elements() == 0) return OkStatus();
  if (!IsFloat(conv.shape().dtype) || !IsFloat(conv.operand(0)->shape().dtype) ||
      conv.operand(0)->shape().dtype != conv.operand(1)->shape().dtype)
    return Unimplemented("compiler: convolution of ", conv.operand(0)->shape().ToString(), " and ",
                         conv.operand(1)->shape().ToString(),
                         "; the Tensor engine multiplies floats of at most 32 bits");
  NEURON_ASSIGN_OR_RETURN(const ConvProblem p, MakeConvProblem(ctx, conv));
  if (p.inputs == 1 && p.groups > 1) return EmitConvDepthwise(ctx, kernel, p);
  if (p.inputs <= 16 && p.num_taps() > 1 && p.inputs * p.num_taps() <= 1024 &&
      p.taps.back() <= isa::kPartitions)
    return EmitConvIm2col(ctx, kernel, p);
  return EmitConvTaps(ctx, kernel, p);
}

}  // namespace neuron::compiler
