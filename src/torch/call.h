// One call, flattened: the device tensors it touches, and the key under which its plan is kept.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>

#include <span>
#include <vector>

#include "lowering/args.h"
#include "torch/op_entry.h"
#include "torch/run_time_extent.h"

namespace neuron::pytorch {

struct Call {
  // Tensors on the device, in argument order; list elements one by one.
  c10::SmallVector<const at::Tensor*, 12> tensors;
  c10::SmallVector<uint64_t, 96> key;
  int device = -1;           // of the first of them, else of a device argument, else current
  bool unsupported = false;  // an element type without a DType, a sparse tensor: CPU's business
  bool mixed_devices = false;
  bool host_scalars_in_lists = false;       // see MoveListScalars
  int64_t extent = 0;                       // of a plan for all lengths: this call's
  std::vector<KeyField>* fields = nullptr;  // where Flatten notes which words are sizes
};

// Key words: per argument what the program depends on; sizes always, strides where not dense,
// values of scalars that are not run-time, and which written tensors share storage with others.
void Flatten(const OpEntry& entry, std::span<const c10::IValue> arguments, Call& call);
uint64_t HashKey(std::span<const uint64_t> key);

// Puts copies on the device in place of the CPU scalars in lists: a program takes run-time scalars
// one by one, not in lists.
void MoveListScalars(const OpEntry& entry, std::span<c10::IValue> arguments, int device);

// A CPU tensor of one element and no dimensions stands for its value.
bool IsHostScalar(const at::Tensor& tensor);

// Error as CUDA words it, for tensors of several devices.
void CheckSameDevice(const std::string& op, std::span<const c10::IValue> arguments);

}  // namespace neuron::pytorch
