// The lowering rows as PyTorch kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace neuron::pytorch {

// Registers every row for its overload and the in-place and out= forms that follow from it; once.
// Composite-implicit ops are left out: a backend kernel there would cut their gradient.
void RegisterKernels();

// Names registered, and rows that were not, with the reason: "aten::foo: ...".
const std::vector<std::string>& RegisteredOps();
const std::vector<std::string>& UnregisteredRows();

// to <- from on one device, any strides and dtypes; false: no row can do it.
bool CopyByPlan(const at::Tensor& to, const at::Tensor& from);

}  // namespace neuron::pytorch
