// What a call would return, from PyTorch's own meta kernels: sizes, strides, dtypes, and exactly
// the errors that wrong arguments raise on CPU.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace neuron::pytorch {

struct TensorMeta {
  bool defined = true;
  int64_t integer = 0;  // of a result that is an int, which counts as undefined
  std::vector<int64_t> sizes, strides;
  at::ScalarType dtype = at::ScalarType::Undefined;
};

struct MetaResult {
  std::vector<TensorMeta> returns;    // flattened; undefined tensors and ints have an entry
  std::vector<TensorMeta> arguments;  // of the call's device tensors, after the op
};

// Other sizes than a call's tensors have, one per device tensor in order.
struct AssumedSizes {
  std::vector<int64_t> sizes, strides;
};

// nullopt: the op has no meta kernel. `assumed`: empty, or as if the tensors had those.
std::optional<MetaResult> InferMeta(const c10::OperatorHandle& op,
                                    std::span<const c10::IValue> arguments,
                                    std::span<const AssumedSizes> assumed = {});

// Many meta kernels are Python's: an exception of theirs leaves Python's error indicator set, which
// whoever swallows the exception must take down. Returns its text, "" if none is set.
std::string TakePythonError();
void SetPythonErrorTaker(std::string (*taker)());  // by the one file that sees Python

}  // namespace neuron::pytorch
