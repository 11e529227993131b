// Which ATen overloads a lowering row serves: its own, and the in-place and out= forms that follow.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <vector>

#include "lowering/table.h"
#include "torch/op_entry.h"

namespace neuron::pytorch {

struct DerivedForm {
  c10::OperatorHandle op;
  Form form = Form::kFunctional;
};

// Empty: this PyTorch does not have the row's overload. Forms that are rows of their own are left
// to those rows.
std::vector<DerivedForm> FormsOf(const lowering::Row& row);

}  // namespace neuron::pytorch
