// The memory format of results, where PyTorch's meta kernel does not say CPU's.
#pragma once

#include <ATen/core/ivalue.h>

#include <span>

#include "torch/meta.h"
#include "torch/op_entry.h"

namespace neuron::pytorch {

// Changes strides of `meta`'s results to channels_last where CPU makes them so.
void SetMemoryFormats(const OpEntry& entry, std::span<const c10::IValue> arguments,
                      MetaResult& meta);

}  // namespace neuron::pytorch
