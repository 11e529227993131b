// IValues of a call as the lowering's Args see them.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <span>
#include <vector>

#include "hlo/builder.h"
#include "lowering/args.h"
#include "torch/op_entry.h"

namespace neuron::pytorch {

// Visits the tensor that `value` is, or those of the list that it is; not undefined ones.
template <typename F>
void ForEachTensor(const c10::IValue& value, F&& visit) {
  if (value.isTensor() && value.toTensor().defined()) visit(value.toTensor());
  if (!value.isList()) return;
  for (const c10::IValue& element : value.toListRef())
    if (element.isTensor() && element.toTensor().defined()) visit(element.toTensor());
}

// By position of the row's schema. `tensor(i)` gives the HLO value of the call's i-th device
// tensor.
std::vector<lowering::ArgValue> ToArgValues(const OpEntry& entry,
                                            std::span<const c10::IValue> arguments,
                                            const std::function<hlo::Value(size_t)>& tensor);

// Whether the dtype can hold the number: infinities and NaN fit floats, -1 fits unsigned integers.
bool Fits(const c10::Scalar& value, DType dtype);

// The 8 bytes of a scalar slot (compiler/compiler.h) for argument `p.argument` of the call. *fits
// becomes false if the slot's dtype or `tensors` cannot hold the number, which some ops refuse.
int64_t ScalarSlot(const lowering::ScalarParameter& p, std::span<const c10::IValue> arguments,
                   DType tensors, bool* fits);

// Of a number that is no argument.
int64_t IntegerSlot(int64_t value, DType dtype);

}  // namespace neuron::pytorch
