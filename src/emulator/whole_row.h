// Instructions that compute a few values from a whole row: each row of operand `data` as dense
// values, to `per_row` results in dst.
#pragma once

#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {

// `other` is the row of a third operand, or nullptr. Values and results are those of `domain`.
using WholeRowFn = void (*)(const uint32_t* data, int64_t n, const uint32_t* other,
                            uint32_t* results, Domain domain);

// `dst_domain` is the domain of the results.
Status DecodeWholeRow(const DecodeInput& input, std::string_view data, std::string_view other,
                      Domain domain, Domain dst_domain, WholeRowFn fn, Operation* op);

}  // namespace neuron::emulator
