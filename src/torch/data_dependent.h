// Results whose number of rows data decide: what the host must know before the call, and the cut
// behind it. A program computes the most rows there can be (lowering::Args::SetRows), so that one
// serves whatever the data say.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace neuron::pytorch {

// Completes the arguments with what must be read from the device first. Returns the number of rows
// of the first result, if that is what was read.
using Preparation = std::optional<int64_t> (*)(std::span<c10::IValue> arguments);
Preparation FindPreparation(std::string_view row);  // by the row's overload; nullptr: none

// Waits for `count` (s32[], on the device); errors of the data so far are thrown.
int64_t ReadCount(const at::Tensor& count);
// The first `rows` along `dimension` of a dense tensor, in memory of their own.
at::Tensor FirstRows(const at::Tensor& bound, int64_t dimension, int64_t rows);

}  // namespace neuron::pytorch
