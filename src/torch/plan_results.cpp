#include "torch/plan_results.h"

#include <algorithm>

#include "lowering/strided.h"
#include "torch/dtype.h"

namespace neuron::pytorch {
namespace {

using Kind = PlanResult::Kind;

void CheckNoOverlap(const Operand& operand) {
  for (size_t i = 0; i < operand.sizes.size(); ++i)
    TORCH_CHECK(operand.sizes[i] <= 1 || operand.strides[i] != 0,
                "unsupported operation: more than one element of the written-to tensor refers to "
                "a single memory location. Please clone() the tensor before performing the "
                "operation.");
}

}  // namespace

void PlanResults::Add(hlo::Value value, PlanResult result) {
  if (result.kind != Kind::kUndefined && value.valid() && value.shape().num_elements() > 0) {
    roots_.push_back(value);
    root_result_.push_back(static_cast<int>(results_.size()));
  }
  results_.push_back(std::move(result));
}

Status PlanResults::Place(const lowering::Values& values,
                          std::vector<lowering::CountedResult> counted) {
  counted_ = std::move(counted);
  const std::vector<int> destinations = operands_.Destinations();
  if (values.size() < destinations.size())
    return Internal(entry_.name, ": the lowering gave ", values.size(), " results for ",
                    destinations.size(), " written tensors");
  returned_ = values.size() - destinations.size();
  for (size_t i = 0; i < returned_; ++i) NEURON_RETURN_IF_ERROR(PlaceNew(values[i], i));
  for (size_t i = 0; i < destinations.size(); ++i) {
    const hlo::Value& value = values[returned_ + i];
    if (destinations[i] < 0 || !value.valid()) continue;
    if (const int dimension = CountedDimension(returned_ + i); dimension >= 0)
      PlaceCounted(value, dimension, destinations[i]);
    else
      NEURON_RETURN_IF_ERROR(PlaceInto(value, static_cast<size_t>(destinations[i])));
  }
  return OkStatus();
}

int PlanResults::CountedDimension(size_t result) const {
  for (const lowering::CountedResult& counted : counted_)
    if (counted.result == result) return static_cast<int>(counted.dimension);
  return -1;
}

// An out= tensor takes as many rows as data decide: computed beside it, cut, copied.
void PlanResults::PlaceCounted(hlo::Value value, int dimension, int operand) {
  const at::ScalarType type = operands_[static_cast<size_t>(operand)].tensor->scalar_type();
  PlanResult result{.kind = Kind::kCopyInto,
                    .tensor = operand,
                    .counted = dimension,
                    .sizes = value.shape().dims,
                    .strides = RowMajorStrides(value.shape().dims),
                    .dtype = type};
  Add(b_.Convert(value, ToDType(type)), std::move(result));
}

Status PlanResults::PlaceNew(hlo::Value value, size_t index) {
  PlanResult result;
  result.counted = CountedDimension(index);
  if (!value.valid()) {
    result.kind = Kind::kUndefined;
    if (meta_.has_value() && index < meta_->returns.size())
      result.integer = meta_->returns[index].integer;
    Add(value, std::move(result));
    return OkStatus();
  }
  // Statistics that an op leaves empty (batch norm in evaluation) have an extent for some meta
  // kernels; the lowering says what CPU does.
  const bool left_empty = value.shape().num_elements() == 0;
  if (meta_.has_value() && index < meta_->returns.size() && meta_->returns[index].defined &&
      (!left_empty || meta_->returns[index].sizes == value.shape().dims)) {
    const TensorMeta& meta = meta_->returns[index];
    result.sizes = meta.sizes;
    result.strides = meta.strides;
    result.dtype = meta.dtype;
  } else {
    result.sizes = value.shape().dims;
    result.strides = RowMajorStrides(result.sizes);
    result.dtype = ToScalarType(value.dtype());
  }
  value = b_.Convert(value, ToDType(result.dtype));
  Dims order = MemoryOrder(result.sizes, result.strides);
  if (!lowering::IsDense(Permuted(result.sizes, order), Permuted(result.strides, order))) {
    result.strides = RowMajorStrides(result.sizes);
    order = MemoryOrder(result.sizes, result.strides);
  }
  const Dims& common = operands_.common_order();
  const bool permuted = !common.empty() && result.sizes.size() == common.size();
  const Dims logical = permuted ? Permuted(result.sizes, common) : result.sizes;
  if (value.shape().dims != logical)
    return Internal(entry_.name, ": the lowering gives ", value.shape().ToString(),
                    ", PyTorch's meta kernel ",
                    hlo::Shape::Array(value.dtype(), logical).ToString());
  if (permuted && order != common) {
    // The result's own order (a memory format was asked for): from the operands' to that one.
    Dims permutation;
    for (const int64_t d : order)
      permutation.push_back(std::ranges::find(common, d) - common.begin());
    value = b_.Transpose(value, permutation);
  } else if (!permuted && !IsIdentity(order)) {
    value = b_.Transpose(value, order);
  }
  Add(value, std::move(result));
  return OkStatus();
}

Status PlanResults::PlaceInto(hlo::Value value, size_t index) {
  Operand& operand = operands_[index];
  if ((entry_.row->flags & lowering::kElementwise) != 0)
    TORCH_CHECK(c10::canCast(ToScalarType(value.dtype()), operand.tensor->scalar_type()),
                "result type ", ToScalarType(value.dtype()),
                " can't be cast to the desired output type ", operand.tensor->scalar_type());
  value = b_.Convert(value, operand.dtype);
  PlanResult result{.kind = Kind::kInto,
                    .tensor = static_cast<int>(index),
                    .sizes = operand.sizes,
                    .strides = operand.strides,
                    .dtype = operand.tensor->scalar_type()};
  if (!meta_.has_value() && value.shape().dims != operand.sizes) {
    if (operand.input) return Internal(entry_.name, ": in place, but of another shape");
    operand.sizes = result.sizes = value.shape().dims;  // an out= tensor without meta: resized
    operand.strides = result.strides = RowMajorStrides(operand.sizes);
  }
  if (value.shape().dims != operand.sizes)
    return Internal(entry_.name, ": the lowering gives ", value.shape().ToString(), " for ",
                    hlo::Shape::Array(operand.dtype, operand.sizes).ToString());
  const Dims& common = operands_.common_order();
  if (!common.empty() && !operand.sizes.empty()) {
    result.sizes = operand.tensor->sizes().vec();
    result.strides = operand.tensor->strides().vec();
    // With a length for all, the operand's are as the calls to come have them.
    for (size_t i = 0; all_lengths_ && i < common.size(); ++i) {
      const auto d = static_cast<size_t>(common[i]);
      result.sizes[d] = operand.sizes[i];
      result.strides[d] = operand.strides[i];
    }
  }
  if (CountElements(operand.sizes) == 0) {
    Add({}, std::move(result));
    return OkStatus();
  }
  const bool conflicts = operands_.Conflicts(operand);
  const bool dense = lowering::IsDense(operand.sizes, operand.strides);
  if (all_lengths_ && (conflicts || !dense))
    return Unimplemented("a result goes into strided memory, or into an operand's");
  const Operand* same = operands_.SameInput(operand);
  if (conflicts) {
    result.kind = Kind::kCopyInto;
    if (common.empty()) result.strides = RowMajorStrides(result.sizes);
    Add(value, std::move(result));
  } else if (dense) {
    if (same != nullptr) Alias(same->parameter);
    Add(value, std::move(result));
  } else {
    CheckNoOverlap(operand);
    const hlo::Value flat = operand.flat.valid() ? operand.flat : same->flat;
    Alias(operand.flat.valid() ? operand.parameter : same->parameter);
    Add(lowering::ToStrided(b_, flat, value, operand.strides), std::move(result));
  }
  return OkStatus();
}

}  // namespace neuron::pytorch
