// Whole graphs as one program: an FX graph is replayed node by node through the lowering rows.
//
//   GraphBuilder builder("forward", 0);
//   int x = builder.Input(at::kFloat, {4, 8}, {8, 1});
//   int y = builder.Call("aten::relu", {lowering::TensorArg{builder.ValueOf(x)}})[0];
//   builder.Output(y, at::kFloat, {4, 8}, {8, 1});
//   std::shared_ptr<GraphExecutable> run = builder.Compile();
//
// Values are numbers. All inputs come before the first Call. Not thread safe; executables are.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo/builder.h"
#include "lowering/args.h"
#include "runtime/runtime.h"

namespace neuron::pytorch {

class GraphExecutable {
 public:
  struct Tensor {
    at::ScalarType dtype = at::ScalarType::Undefined;
    std::vector<int64_t> sizes, strides;
  };
  enum class Source : uint8_t { kInput, kOutput, kPhilox, kErrorRecord };
  struct Buffer {
    Source source = Source::kInput;
    int index = 0;
  };

  // Do these tensors have the dtypes, sizes and strides that the program was made for, and its
  // device?
  bool Accepts(const std::vector<at::Tensor>& inputs) const;
  // Requires Accepts(inputs). Returns the outputs; mutated inputs are written in place.
  std::vector<at::Tensor> Run(const std::vector<at::Tensor>& inputs) const;

  const std::string& name() const { return name_; }
  double modelled_seconds() const;
  std::string Disassembly() const;

 private:
  friend class GraphBuilder;
  std::string name_;
  int device_ = 0;
  std::shared_ptr<runtime::Executable> executable_;  // nullptr: nothing to compute
  std::vector<Tensor> inputs_, outputs_;
  std::vector<Buffer> buffers_;
  std::vector<int64_t> philox_numbers_;  // per random op
  bool has_error_record_ = false;
};

class GraphBuilder {
 public:
  GraphBuilder(std::string name, int device);

  int Input(at::ScalarType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);
  int Constant(const at::Tensor& host);  // a CPU tensor's value, part of the program
  // Values of the results, -1 for an undefined tensor. Throws what the row refuses.
  std::vector<int> Call(const std::string& overload, std::vector<lowering::ArgValue> arguments);
  hlo::Value ValueOf(int value) const { return values_.at(static_cast<size_t>(value)); }
  const hlo::Shape& ShapeOf(int value) const { return ValueOf(value).shape(); }

  void Output(int value, at::ScalarType dtype, std::vector<int64_t> sizes,
              std::vector<int64_t> strides);
  void Mutate(int input, int value);  // `input` takes `value` when the program ends
  std::shared_ptr<GraphExecutable> Compile();

 private:
  void Check() const;
  int Add(hlo::Value value);

  hlo::Builder b_;
  std::shared_ptr<GraphExecutable> result_ = std::make_shared<GraphExecutable>();
  std::vector<hlo::Value> values_;
  std::vector<int> input_values_;
  std::vector<hlo::Value> input_parameters_;  // dense or flat
  std::vector<int> parameter_input_;          // of each HLO parameter; -1 - k: k-th random state
  std::vector<hlo::Value> output_values_;
  std::vector<std::pair<int, hlo::Value>> mutations_;
  std::vector<hlo::Value> error_records_;
  int64_t next_parameter_ = 0;
};

// Is there a row for this overload ("aten::add.Tensor")?
bool HasRow(const std::string& overload);
std::vector<std::string> RowNames();

}  // namespace neuron::pytorch
