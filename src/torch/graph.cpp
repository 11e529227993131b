#include "torch/graph.h"

#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <numeric>

#include "lowering/strided.h"
#include "lowering/table.h"
#include "torch/capture.h"
#include "torch/device.h"
#include "torch/dtype.h"
#include "torch/layout.h"
#include "torch/options.h"
#include "torch/philox_ring.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

bool HasElements(const Dims& sizes) {
  return std::ranges::none_of(sizes, [](int64_t size) { return size == 0; });
}

}  // namespace

bool GraphExecutable::Accepts(const std::vector<at::Tensor>& inputs) const {
  if (inputs.size() != inputs_.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor& tensor = inputs[i];
    const Tensor& wanted = inputs_[i];
    if (tensor.scalar_type() != wanted.dtype || tensor.device() != DeviceAt(device_) ||
        tensor.sizes() != at::IntArrayRef(wanted.sizes))
      return false;
    if (tensor.strides() == at::IntArrayRef(wanted.strides) || tensor.numel() == 0) continue;
    for (size_t d = 0; d < wanted.sizes.size(); ++d)
      if (wanted.sizes[d] != 1 && tensor.strides()[d] != wanted.strides[d]) return false;
  }
  return true;
}

std::vector<at::Tensor> GraphExecutable::Run(const std::vector<at::Tensor>& inputs) const {
  std::vector<at::Tensor> outputs;
  outputs.reserve(outputs_.size());
  for (const Tensor& output : outputs_)
    outputs.push_back(EmptyStrided(device_, output.sizes, output.strides, output.dtype));
  if (executable_ == nullptr) return outputs;
  runtime::Launch launch;
  launch.executable = executable_;
  launch.op = name_.c_str();
  at::Tensor record;
  if (has_error_record_) {
    record = EmptyContiguous(device_, {lowering::kErrorWords}, at::kInt);
    launch.error_record = record.mutable_data_ptr();
  }
  std::vector<at::Tensor> random_states;
  for (const int64_t numbers : philox_numbers_)
    random_states.push_back(PhiloxArgument(std::nullopt, device_, static_cast<uint64_t>(numbers)));
  for (const Buffer& buffer : buffers_) {
    const auto index = static_cast<size_t>(buffer.index);
    switch (buffer.source) {
      case Source::kInput:
        launch.buffers.push_back(const_cast<void*>(inputs[index].const_data_ptr()));
        break;
      case Source::kOutput:
        launch.buffers.push_back(outputs[index].mutable_data_ptr());
        break;
      case Source::kPhilox:
        launch.buffers.push_back(random_states[index].mutable_data_ptr());
        break;
      case Source::kErrorRecord:
        launch.buffers.push_back(launch.error_record);
        break;
    }
  }
  Submit(device_, CurrentStream(device_), std::move(launch));
  return outputs;
}

double GraphExecutable::modelled_seconds() const {
  return executable_ == nullptr ? 0 : executable_->modelled_seconds();
}
std::string GraphExecutable::Disassembly() const {
  return executable_ == nullptr ? "" : executable_->Disassembly();
}

GraphBuilder::GraphBuilder(std::string name, int device) : b_(name) {
  result_->name_ = std::move(name);
  result_->device_ = device;
}

void GraphBuilder::Check() const { ThrowIfError(b_.status()); }

int GraphBuilder::Add(hlo::Value value) {
  if (!value.valid()) return -1;
  values_.push_back(value);
  return static_cast<int>(values_.size()) - 1;
}

int GraphBuilder::Input(at::ScalarType type, Dims sizes, Dims strides) {
  const DType dtype = ToDType(type);
  TORCH_CHECK_NOT_IMPLEMENTED(dtype != DType::kInvalid, "neuron: a graph input has dtype ", type);
  const int input = static_cast<int>(result_->inputs_.size());
  hlo::Value parameter, value;
  const hlo::Shape shape = hlo::Shape::Array(dtype, sizes);
  if (!HasElements(sizes)) {
    value = b_.Full(shape, 0);
  } else {
    parameter_input_.push_back(input);
    const Dims order = MemoryOrder(sizes, strides);
    if (lowering::IsDense(sizes, strides)) {
      value = parameter = b_.Parameter(next_parameter_++, shape);
    } else if (lowering::IsDense(Permuted(sizes, order), Permuted(strides, order))) {
      // Dense in another order: the program sees the memory's order and a transpose.
      parameter = b_.Parameter(next_parameter_++, hlo::Shape::Array(dtype, Permuted(sizes, order)));
      Dims inverse(order.size());
      for (size_t i = 0; i < order.size(); ++i)
        inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
      value = b_.Transpose(parameter, inverse);
    } else {
      parameter = b_.Parameter(next_parameter_++,
                               hlo::Shape::Array(dtype, {lowering::FlatExtent(sizes, strides)}));
      value = lowering::FromStrided(b_, parameter, sizes, strides);
    }
  }
  result_->inputs_.push_back({type, std::move(sizes), std::move(strides)});
  input_parameters_.push_back(parameter);
  input_values_.push_back(Add(value));
  Check();
  return input_values_.back();
}

int GraphBuilder::Constant(const at::Tensor& host) {
  const at::Tensor dense = host.contiguous();
  const DType dtype = ToDType(dense.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(dtype != DType::kInvalid, "neuron: a constant has dtype ",
                              dense.scalar_type());
  std::string bytes(static_cast<const char*>(dense.const_data_ptr()), dense.nbytes());
  const int value = Add(
      b_.Constant(hlo::Literal(hlo::Shape::Array(dtype, dense.sizes().vec()), std::move(bytes))));
  Check();
  return value;
}

std::vector<int> GraphBuilder::Call(const std::string& overload,
                                    std::vector<lowering::ArgValue> arguments) {
  const lowering::Row* row = lowering::FindRow(overload);
  TORCH_CHECK_NOT_IMPLEMENTED(row != nullptr, overload, " has no lowering on 'neuron'");
  b_.SetMetadata(overload);
  lowering::Args args(b_, row->overload, std::move(arguments), next_parameter_,
                      static_cast<int32_t>(row - lowering::Rows().data()),
                      ToDType(c10::get_default_dtype_as_scalartype()));
  const lowering::Values values = row->lower(b_, args);
  Check();
  TORCH_CHECK_NOT_IMPLEMENTED(!args.row_count().has_value(), overload,
                              ": the result's size depends on data");
  if (args.philox_parameter() >= 0) {
    parameter_input_.push_back(-1 - static_cast<int>(result_->philox_numbers_.size()));
    result_->philox_numbers_.push_back(args.philox_numbers());
  }
  next_parameter_ = args.next_parameter();
  if (const auto record = args.error_record(); record.has_value())
    error_records_.push_back(*record);
  std::vector<int> out;
  for (const hlo::Value value : values) out.push_back(Add(value));
  return out;
}

void GraphBuilder::Output(int value, at::ScalarType type, Dims sizes, Dims strides) {
  hlo::Value result = b_.Convert(ValueOf(value), ToDType(type));
  TORCH_CHECK(result.shape().dims == sizes, "neuron: a graph output is ", result.shape().ToString(),
              ", PyTorch expects sizes ", at::IntArrayRef(sizes));
  Dims order = MemoryOrder(sizes, strides);
  if (!lowering::IsDense(Permuted(sizes, order), Permuted(strides, order))) {
    // With holes or overlaps: dense instead; whoever reads it later asks for its strides.
    strides = RowMajorStrides(sizes);
    order = MemoryOrder(sizes, strides);
  }
  if (!IsIdentity(order)) result = b_.Transpose(result, order);
  Check();
  result_->outputs_.push_back({type, std::move(sizes), std::move(strides)});
  output_values_.push_back(result);
}

void GraphBuilder::Mutate(int input, int value) {
  const auto it = std::ranges::find(input_values_, input);
  TORCH_CHECK(it != input_values_.end(), "neuron: only inputs can be mutated");
  mutations_.emplace_back(static_cast<int>(it - input_values_.begin()), ValueOf(value));
}

std::shared_ptr<GraphExecutable> GraphBuilder::Compile() {
  std::vector<hlo::Value> roots;
  std::vector<GraphExecutable::Buffer> root_buffers;
  for (size_t i = 0; i < output_values_.size(); ++i) {
    if (!HasElements(result_->outputs_[i].sizes)) continue;
    roots.push_back(output_values_[i]);
    root_buffers.push_back({GraphExecutable::Source::kOutput, static_cast<int>(i)});
  }
  for (const auto& [index, value] : mutations_) {
    const GraphExecutable::Tensor& input = result_->inputs_[static_cast<size_t>(index)];
    const hlo::Value parameter = input_parameters_[static_cast<size_t>(index)];
    if (!parameter.valid()) continue;
    hlo::Value stored = b_.Convert(value, parameter.dtype());
    const Dims order = MemoryOrder(input.sizes, input.strides);
    if (!lowering::IsDense(input.sizes, input.strides)) {
      if (lowering::IsDense(Permuted(input.sizes, order), Permuted(input.strides, order)))
        stored = b_.Transpose(stored, order);
      else
        stored = lowering::ToStrided(b_, parameter, stored, input.strides);
    }
    b_.Alias(static_cast<int64_t>(roots.size()),
             parameter.instruction()->attributes().parameter_number);
    roots.push_back(stored);
    root_buffers.push_back({GraphExecutable::Source::kInput, index});
  }
  if (!error_records_.empty() && !roots.empty()) {
    result_->has_error_record_ = true;
    roots.push_back(lowering::Args::FirstError(b_, error_records_));
    root_buffers.push_back({GraphExecutable::Source::kErrorRecord, 0});
  }
  Check();
  if (roots.empty()) return result_;
  const hlo::Module module = ValueOrThrow(roots.size() == 1 ? std::move(b_).Build(roots[0])
                                                            : std::move(b_).BuildTuple(roots));
  compiler::Options options = CompilerOptions(result_->device_);
  options.relaxed = true;
  result_->executable_ =
      ValueOrThrow(runtime::GetExecutable(result_->device_, module, options, result_->name_));
  for (const auto& buffer : result_->executable_->signature().buffers) {
    if (buffer.parameter < 0) {
      result_->buffers_.push_back(root_buffers[static_cast<size_t>(buffer.output)]);
      continue;
    }
    const int input = parameter_input_[static_cast<size_t>(buffer.parameter)];
    result_->buffers_.push_back(
        input >= 0 ? GraphExecutable::Buffer{GraphExecutable::Source::kInput, input}
                   : GraphExecutable::Buffer{GraphExecutable::Source::kPhilox, -1 - input});
  }
  return result_;
}

bool HasRow(const std::string& overload) {
  const lowering::Row* row = lowering::FindRow(overload);
  return row != nullptr && (row->flags & lowering::kDataDependent) == 0;
}

std::vector<std::string> RowNames() {
  std::vector<std::string> out;
  for (const lowering::Row& row : lowering::Rows()) out.emplace_back(row.overload);
  return out;
}

}  // namespace neuron::pytorch
