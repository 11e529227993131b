// Kernels that only move: copies between strided views, fills, pad, concatenate, dynamic slices.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// One side of a copy: HBM bytes in units of dtype.
struct HbmView {
  uint16_t tensor = Buffer::kNone;
  DType dtype = DType::kInvalid;
  Affine byte_offset;
  Dims strides;  // elements; the sizes are given beside
};
HbmView HbmViewOf(EmitContext& ctx, const View& view);

// dst = src over `sizes`, by DMA from HBM to HBM. Same dtype size: bits are moved.
Status EmitCopy(EmitContext& ctx, Dims sizes, const HbmView& dst, const HbmView& src);
// dst = a number over `sizes`, from one tile in SBUF.
Status EmitFill(EmitContext& ctx, Dims sizes, const HbmView& dst, DType dtype, double value);

// dst = src, which may be a constant.
Status EmitMove(EmitContext& ctx, const Dims& sizes, const HbmView& dst, const View& src);

// Loads a rank-0 integer (a start index) into a register clamped to [0, most].
StatusOr<Affine> EmitIndex(EmitContext& ctx, const hlo::Instruction* index, int64_t most);

Status EmitConcatenate(EmitContext& ctx, const Kernel& kernel);
Status EmitPad(EmitContext& ctx, const Kernel& kernel);
Status EmitDynamicSlice(EmitContext& ctx, const Kernel& kernel);
Status EmitDynamicUpdateSlice(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
