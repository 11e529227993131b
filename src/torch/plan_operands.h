// The device tensors of a call while its plan is being built: which parameter of the module each
// is, in which order of dimensions the program works, and which share memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

#include "hlo/builder.h"
#include "torch/call.h"
#include "torch/layout.h"
#include "torch/meta.h"
#include "torch/op_entry.h"

namespace neuron::pytorch {

struct Operand {
  const at::Tensor* tensor = nullptr;
  bool input = false;   // the row reads it
  Dims sizes, strides;  // after resizing, for out= tensors
  DType dtype = DType::kInvalid;
  int64_t parameter = -1;
  hlo::Value flat;   // the parameter, if it is the flat span
  hlo::Value value;  // dense, in logical (or common memory) order
  int64_t begin() const { return tensor->storage_offset() * ByteSize(dtype); }
  int64_t end() const;
};

class PlanOperands {
 public:
  // `assumed`: empty, or sizes of the tensors to build for instead of their own.
  PlanOperands(const OpEntry& entry, std::span<const c10::IValue> arguments,
               std::span<const AssumedSizes> assumed)
      : entry_(entry), arguments_(arguments), assumed_(assumed) {}

  // Throws if an in-place result has another shape than `meta`'s.
  void Collect(const std::optional<MetaResult>& meta);

  // All inputs become parameters, then those destinations whose other elements are needed: of
  // strided memory the flat span is a parameter.
  void AddParameters(hlo::Builder& b);

  Operand& operator[](size_t index) { return operands_[index]; }
  const Operand& operator[](size_t index) const { return operands_[index]; }
  bool empty() const { return operands_.empty(); }
  size_t num_parameters() const { return parameter_operand_.size(); }
  int operand_of_parameter(int64_t parameter) const {
    return parameter_operand_[static_cast<size_t>(parameter)];
  }
  // Of parameters that are not dense, by number; shorter than their list.
  const std::vector<Dims>& strides() const { return strides_; }
  // Not empty: the program works in this order of dimensions (of memory), not in the logical one.
  const Dims& common_order() const { return common_order_; }

  // Operands that take results, in result order; -1 for one that was not given.
  std::vector<int> Destinations() const;
  // An input with exactly this memory and layout (the tensor itself, for in-place ops).
  const Operand* SameInput(const Operand& destination) const;
  // Another input reads part of the memory in another way: results may not go there directly.
  bool Conflicts(const Operand& destination) const;

 private:
  void FindCommonOrder();
  void AddInput(hlo::Builder& b, Operand& operand);
  void AddDestination(hlo::Builder& b, Operand& operand);
  hlo::Value NewParameter(hlo::Builder& b, Operand& operand, const hlo::Shape& shape);

  const OpEntry& entry_;
  const std::span<const c10::IValue> arguments_;
  const std::span<const AssumedSizes> assumed_;
  std::vector<Operand> operands_;
  std::vector<size_t> first_operand_;  // of each argument, and the end
  std::vector<int> parameter_operand_;
  std::vector<Dims> strides_;
  Dims common_order_;
};

}  // namespace neuron::pytorch
