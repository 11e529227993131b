// Strided tensors in HLO. HLO has no strides: a tensor whose elements are not dense in logical
// order enters a module as the flat span of memory it touches, and leaves through it.
#pragma once

#include <vector>

#include "hlo/builder.h"

namespace neuron::lowering {

// Elements from the lowest to the highest that (sizes, strides) touches; strides >= 0.
int64_t FlatExtent(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);
bool IsDense(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);

// `flat` (rank 1, FlatExtent) seen as dense `sizes`: slice, reshape, transpose and broadcast where
// the strides nest, which the compiler folds into DMA patterns; a gather where they overlap.
hlo::Value FromStrided(hlo::Builder& b, hlo::Value flat, const std::vector<int64_t>& sizes,
                       const std::vector<int64_t>& strides);

// `flat` with `value` written at (sizes, strides); other elements stay. Strides must not overlap.
hlo::Value ToStrided(hlo::Builder& b, hlo::Value flat, hlo::Value value,
                     const std::vector<int64_t>& strides);

}  // namespace neuron::lowering
