// A convolution with its dimension numbers resolved: what every mapping starts from.
//
// out[g, n, o, p...] = sum over i, t... of image[g, n, i, p * stride + t * dilation] *
// weight[g, o, i, t]. The image is already padded and base-dilated, so no index is out of bounds.
#pragma once

#include "compiler/emitter.h"

namespace neuron::compiler {

struct ConvOperand {
  uint16_t tensor = Buffer::kNone;
  DType dtype = DType::kInvalid;
  int64_t byte_offset = 0;
  int64_t group = 0, outer = 0, inner = 0;  // strides in elements; outer: n or o, inner: i
  Dims spatial;                             // strides
};

struct ConvProblem {
  int64_t groups = 1, batch = 1, outputs = 1, inputs = 1;  // per group
  Dims extents;                                            // of the padded image
  Dims places;                                             // of the output
  Dims taps, stride, dilation;
  ConvOperand image, weight;
  // Dimensions of the result: which is n, o and each spatial one; groups lie in o.
  int n_dim = 0, o_dim = 0;
  std::vector<int> place_dims;
  int64_t num_taps() const { return Product(taps); }
  size_t rank() const { return taps.size(); }
};

// Emits the padding of the image into HBM scratch, if there is any.
StatusOr<ConvProblem> MakeConvProblem(EmitContext& ctx, const hlo::Instruction& convolution);

}  // namespace neuron::compiler
