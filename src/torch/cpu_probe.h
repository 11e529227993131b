// What PyTorch CPU says to a call: it runs there on stand-ins for the device tensors, which tells
// whether and in which words CPU refuses it, and nothing else.
//
// Meta kernels know shapes. What only CPU's kernels refuse (a dtype, written memory that overlaps
// in part, a number that the dtype cannot hold) is found here, by asking instead of by a list per
// op. Asked when a plan is built, and where a number looks as if it did not fit: never on the way
// of a usual call.
#pragma once

#include <ATen/core/ivalue.h>

#include <initializer_list>
#include <span>
#include <string_view>

#include "torch/op_entry.h"

namespace neuron::pytorch {

enum class StandIns : uint8_t {
  kFewElements,  // as many dimensions, of two elements at most, holding ones: for elementwise rows
  kSameMemory,   // sizes, strides and shared memory of the call's tensors, holding zeros
};

// Throws CPU's exception if it refuses in words that contain one of `about`. What else may be wrong
// with zeros or ones is no matter.
void AskCpu(const OpEntry& entry, std::span<const c10::IValue> arguments, StandIns stand_ins,
            std::initializer_list<std::string_view> about);

// Throws what CPU throws for these dtypes, unless one of them is a float of 16 bits: those an
// accelerator may have where CPU has no kernel.
void AskCpuAboutDtypes(const OpEntry& entry, std::span<const c10::IValue> arguments);

// Throws what CPU throws for written memory that an operand shares in part, or that is its own
// twice.
void AskCpuAboutOverlap(const OpEntry& entry, std::span<const c10::IValue> arguments);

// Throws what CPU throws for a number that does not fit the dtype it is converted to.
void AskCpuAboutNumbers(const OpEntry& entry, std::span<const c10::IValue> arguments);

}  // namespace neuron::pytorch
