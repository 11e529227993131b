// dst[F, R] = src[R, F]^T, bit exact: nc_transpose, dma_transpose and transposing nc_matmul.
#pragma once

#include "emulator/decoder.h"

namespace neuron::emulator {

// Row r of `from` (its elements in order) becomes element r of each row of `to`.
Status DecodeTranspose(const DecodeInput& input, std::string_view to, std::string_view from,
                       Operation* op);
bool IsTranspose(const Operation& operation);

}  // namespace neuron::emulator
