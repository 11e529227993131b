// Operands of windowed heroes, padded in HBM.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

// An operand of which every index is in bounds: sizes and strides as a view has them.
struct PaddedOperand {
  uint16_t tensor = Buffer::kNone;
  DType dtype = DType::kInvalid;
  int64_t byte_offset = 0;
  Dims sizes, strides;
};

// `view` with its dimensions `dims` padded and base-dilated as `window` says (one entry each): the
// buffer itself with other offsets if that only crops, else a copy in HBM scratch filled with
// `fill`.
StatusOr<PaddedOperand> PadOperand(EmitContext& ctx, const View& view, const Dims& dims,
                                   const std::vector<hlo::WindowDimension>& window, double fill);

}  // namespace neuron::compiler
