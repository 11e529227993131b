#include "torch/plan_operands.h"

#include "lowering/strided.h"
#include "torch/arguments.h"
#include "torch/device.h"
#include "torch/dtype.h"

namespace neuron::pytorch {
namespace {

// What a lazily conjugated or negated tensor stands for.
hlo::Value Resolved(hlo::Builder& b, hlo::Value stored, const at::Tensor& tensor) {
  hlo::Value value = stored;
  if (tensor.is_conj()) value = b.Complex(b.Real(value), b.Negate(b.Imag(value)));
  if (tensor.is_neg()) value = b.Negate(value);
  return value;
}

hlo::Shape FlatShape(const Operand& operand) {
  return hlo::Shape::Array(operand.dtype, {lowering::FlatExtent(operand.sizes, operand.strides)});
}

bool SharesStorage(const Operand& a, const Operand& b) {
  return a.tensor->storage().is_alias_of(b.tensor->storage());
}

bool IsSame(const Operand& a, const Operand& b) {
  return SharesStorage(a, b) && a.begin() == b.begin() && a.sizes == b.sizes &&
         a.strides == b.strides && a.dtype == b.dtype;
}

}  // namespace

int64_t Operand::end() const {
  return begin() +
         (CountElements(sizes) == 0 ? 0 : lowering::FlatExtent(sizes, strides)) * ByteSize(dtype);
}

void PlanOperands::Collect(const std::optional<MetaResult>& meta) {
  first_operand_.resize(entry_.args.size() + 1);
  for (size_t i = 0; i < entry_.args.size(); ++i) {
    first_operand_[i] = operands_.size();
    ForEachTensor(arguments_[i], [&](const at::Tensor& tensor) {
      if (tensor.device().type() != kDeviceType) return;
      Operand operand;
      operand.tensor = &tensor;
      operand.input = entry_.args[i].row_position >= 0;
      const size_t index = operands_.size();
      operand.sizes = assumed_.empty() ? tensor.sizes().vec() : assumed_[index].sizes;
      operand.strides = assumed_.empty() ? tensor.strides().vec() : assumed_[index].strides;
      operand.dtype = ToDType(tensor.scalar_type());
      if (meta.has_value() && entry_.args[i].written && index < meta->arguments.size() &&
          meta->arguments[index].sizes != operand.sizes) {
        TORCH_CHECK(entry_.form == Form::kOut, "output with shape ", tensor.sizes(),
                    " doesn't match the broadcast shape ",
                    at::IntArrayRef(meta->arguments[index].sizes));
        operand.sizes = meta->arguments[index].sizes;
        operand.strides = meta->arguments[index].strides;
      }
      operands_.push_back(std::move(operand));
    });
  }
  first_operand_.back() = operands_.size();
  FindCommonOrder();
}

// Elementwise over operands that are all dense in one and the same order of dimensions: the
// program works in that order, and nothing is transposed.
void PlanOperands::FindCommonOrder() {
  if ((entry_.row->flags & lowering::kElementwise) == 0) return;
  const Operand* first = nullptr;
  for (const Operand& operand : operands_) {
    if (operand.sizes.empty()) continue;
    if (first == nullptr) first = &operand;
    if (operand.sizes != first->sizes) return;
    const Dims order = MemoryOrder(operand.sizes, operand.strides);
    if (order != MemoryOrder(first->sizes, first->strides)) return;
    if (!lowering::IsDense(Permuted(operand.sizes, order), Permuted(operand.strides, order)))
      return;
  }
  if (first == nullptr) return;
  const Dims order = MemoryOrder(first->sizes, first->strides);
  if (IsIdentity(order)) return;
  common_order_ = order;
  for (Operand& operand : operands_) {
    if (operand.sizes.empty()) continue;
    operand.sizes = Permuted(operand.sizes, order);
    operand.strides = Permuted(operand.strides, order);
  }
}

void PlanOperands::AddParameters(hlo::Builder& b) {
  for (Operand& operand : operands_)
    if (operand.input) AddInput(b, operand);
  for (const int index : Destinations())
    if (index >= 0) AddDestination(b, operands_[static_cast<size_t>(index)]);
}

hlo::Value PlanOperands::NewParameter(hlo::Builder& b, Operand& operand, const hlo::Shape& shape) {
  operand.parameter = static_cast<int64_t>(parameter_operand_.size());
  parameter_operand_.push_back(static_cast<int>(&operand - operands_.data()));
  return b.Parameter(operand.parameter, shape);
}

void PlanOperands::AddInput(hlo::Builder& b, Operand& operand) {
  const hlo::Shape shape = hlo::Shape::Array(operand.dtype, operand.sizes);
  if (shape.num_elements() == 0) {
    operand.value = b.Full(shape, 0);
    return;
  }
  if (lowering::IsDense(operand.sizes, operand.strides)) {
    operand.value = NewParameter(b, operand, shape);
  } else if (!assumed_.empty()) {  // no slice of a static size is as long as any length
    operand.value = NewParameter(b, operand, shape);
    strides_.resize(parameter_operand_.size());
    strides_.back() = operand.strides;
  } else {
    operand.flat = NewParameter(b, operand, FlatShape(operand));
    operand.value = lowering::FromStrided(b, operand.flat, operand.sizes, operand.strides);
  }
  operand.value = Resolved(b, operand.value, *operand.tensor);
}

void PlanOperands::AddDestination(hlo::Builder& b, Operand& operand) {
  if (operand.input || CountElements(operand.sizes) == 0 || Conflicts(operand)) return;
  if (lowering::IsDense(operand.sizes, operand.strides)) return;
  if (!assumed_.empty()) return;  // refused when results are placed
  if (const Operand* same = SameInput(operand); same != nullptr && same->flat.valid()) {
    operand.flat = same->flat;
    operand.parameter = same->parameter;
  } else {
    operand.flat = NewParameter(b, operand, FlatShape(operand));
  }
}

std::vector<int> PlanOperands::Destinations() const {
  std::vector<int> out;
  for (const int argument : entry_.destinations) {
    const auto i = static_cast<size_t>(argument);
    const size_t begin = first_operand_[i], end = first_operand_[i + 1];
    if (begin == end && !arguments_[i].isList()) out.push_back(-1);
    for (size_t operand = begin; operand < end; ++operand) out.push_back(static_cast<int>(operand));
  }
  return out;
}

const Operand* PlanOperands::SameInput(const Operand& destination) const {
  for (const Operand& other : operands_)
    if (other.input && other.parameter >= 0 && IsSame(destination, other)) return &other;
  return nullptr;
}

bool PlanOperands::Conflicts(const Operand& destination) const {
  for (const Operand& other : operands_)
    if (&other != &destination && other.input && SharesStorage(destination, other) &&
        !IsSame(destination, other) && other.begin() < destination.end() &&
        destination.begin() < other.end())
      return true;
  return false;
}

}  // namespace neuron::pytorch
