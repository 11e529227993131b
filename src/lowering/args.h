// What a lowering sees of a call: ATen's arguments by schema position, as HLO values or constants.
//
// Eager dispatch and FX nodes both fill an Args; no PyTorch header is needed to lower. Tensors come
// with the strides already resolved: a value is dense in logical order. Scalars (`Scalar`, float,
// int, bool arguments) that the row lists as run-time are rank-0 parameters, so that x * 0.3 and
// x * 0.4 are one program; all others are constants and part of the plan's key.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "hlo/builder.h"

namespace neuron::lowering {

struct TensorArg {
  hlo::Value value;             // not valid: an undefined tensor or None
  bool wrapped_number = false;  // takes part in type promotion as a Python number
};

// A Python number: which kind it is decides type promotion. A number may also stand where the
// schema says Tensor: FX graphs hold them there, and eager passes wrapped numbers and zero-dim CPU
// tensors so, since their value (not their memory) enters the program.
struct ScalarArg {
  enum class Kind : uint8_t { kBool, kInt, kFloat, kComplex };
  Kind kind = Kind::kInt;
  bool run_time = false;        // the value below is only an example if set
  std::complex<double> number;  // float and complex
  int64_t integer = 0;          // bool and int
  // Set: the value of a zero-dim CPU tensor of this dtype, which promotes as such a tensor does.
  DType tensor_dtype = DType::kInvalid;
};

// std::monostate: None. vector<TensorArg>: Tensor[] and Tensor?[].
using ArgValue = std::variant<std::monostate, TensorArg, std::vector<TensorArg>, ScalarArg, bool,
                              std::vector<int64_t>, std::vector<double>, std::vector<bool>,
                              std::string, DType, std::vector<ScalarArg>>;
// int and float schema types arrive as ScalarArg; ScalarType as DType; memory_format, layout and
// device are resolved by the caller and arrive as None.

// A run-time scalar parameter that the lowering asked for: the caller converts argument `argument`
// (element `element` of a list) to `dtype` at each launch.
struct ScalarParameter {
  int64_t argument = 0;
  int64_t element = -1;
  DType dtype = DType::kF32;
  int64_t hlo_parameter = 0;
};

// Codes of the data-error record s32[7] {code, op, operand, index's low word, its high word, the
// dimension indexed or -1, its size}; the first error wins.
enum class DataError : int32_t {
  kNone = 0,
  kIndexOutOfRange = 1,
  kDivisionByZero = 2,
  kAssert = 3,
  kNegativeProbability = 4,
  kOutsideUnitInterval = 5,
  kPlaceOutOfRange = 6,  // as kIndexOutOfRange, for ops that raise RuntimeError on CPU
  kEmptyDistribution = 7
};

constexpr int64_t kErrorWords = 7;

// What an index may name: `size` places along `dimension`, or of the flattened tensor (-1).
struct Extent {
  int64_t size = 0;
  int64_t dimension = -1;
  DataError error = DataError::kIndexOutOfRange;
};

// A result that has, along `dimension`, as many elements as data decide.
struct CountedResult {
  CountedResult(size_t result, int64_t dimension = 0)  // NOLINT(google-explicit-constructor)
      : result(result), dimension(dimension) {}
  size_t result;
  int64_t dimension;
};

class Args {
 public:
  // `next_parameter`: HLO parameters from this number on are free for scalars. `op`: what error
  // records name; by convention the row's index in Rows().
  Args(hlo::Builder& builder, std::string_view overload, std::vector<ArgValue> values,
       int64_t next_parameter, int32_t op = 0, DType default_dtype = DType::kF32);

  std::string_view overload() const { return overload_; }
  size_t size() const { return values_.size(); }
  const ArgValue& operator[](size_t i) const { return values_[i]; }
  bool is_number(size_t i) const;  // a Python number, or a host tensor of rank 0
  bool is_none(size_t i) const;    // None, undefined tensor, or beyond the end

  // A wrong kind is a bug of the row: Builder::Fail with overload and position.
  hlo::Value tensor(size_t i);                // a number becomes a rank-0 value of its own dtype
  hlo::Value operand(size_t i, DType dtype);  // tensor or number, converted to dtype
  DType dtype_of(size_t i) const;             // of a tensor or number
  std::optional<hlo::Value> optional_tensor(size_t i);
  std::vector<hlo::Value> tensors(size_t i);
  int64_t integer(size_t i) const;
  int64_t integer_or(size_t i, int64_t otherwise) const;
  double number(size_t i) const;
  double number_or(size_t i, double otherwise) const;
  bool flag(size_t i) const;
  std::vector<int64_t> integers(size_t i) const;  // an int becomes a list of one
  std::vector<int64_t> integers_or(size_t i, std::vector<int64_t> otherwise) const;
  std::string_view text(size_t i) const;
  std::optional<DType> dtype(size_t i) const;
  const ScalarArg& scalar_arg(size_t i) const;
  // The scalar as a rank-0 value of `dtype`: a parameter if it is run-time, else a constant.
  hlo::Value scalar(size_t i, DType dtype);
  hlo::Value scalar_element(size_t i, size_t element, DType dtype);  // of a Scalar[] or float[]
  // Is the scalar a known constant equal to `value`? False for run-time scalars.
  bool scalar_is(size_t i, double value) const;

  // Philox key and offset of this call as u64[2] (a parameter); `numbers` is how many 128-bit
  // counters the op draws, so that the caller advances the generator.
  hlo::Value Philox(int64_t numbers);

  // Adds to the module's error record: where any element of `bad` (pred) is set, the op failed
  // with `code`; `index` (s32, bad's shape) is the offending index reported. `high`: the high words
  // of indices of 64 bits, if they have any. `extent`: what the index had to be within.
  void Report(DataError code, int32_t operand, hlo::Value bad, hlo::Value index,
              hlo::Value high = {}, Extent extent = {});
  // For codes that are about an element's value.
  void Report(DataError code, int32_t operand, hlo::Value bad);

  // How many rows of a result there are depends on data: the results at `results` have the most
  // there can be along their counted dimension, and `count` (s32[]) of them, the first, mean
  // something. Eager execution reads the count and cuts them; a graph cannot.
  void SetRows(hlo::Value count, std::vector<CountedResult> results);
  const std::optional<hlo::Value>& row_count() const { return row_count_; }
  const std::vector<CountedResult>& counted_results() const { return counted_results_; }

  // torch.result_type over the tensor and scalar arguments at these positions: dimensioned tensors
  // before zero-dim ones before numbers, by category; floats stay in the default dtype.
  DType ResultType(std::initializer_list<size_t> positions) const;

  // torch.get_default_dtype(): what integers become in floating point ops.
  DType default_dtype() const { return default_dtype_; }
  int64_t next_parameter() const { return next_parameter_; }
  hlo::Builder& builder() { return builder_; }
  const std::vector<ScalarParameter>& scalar_parameters() const { return scalar_parameters_; }
  int64_t philox_parameter() const { return philox_parameter_; }  // -1: none drawn
  int64_t philox_numbers() const { return philox_numbers_; }
  std::optional<hlo::Value> error_record();  // s32[kErrorWords], if anything can fail
  // The first record with a code, for modules of several ops.
  static hlo::Value FirstError(hlo::Builder& b, const std::vector<hlo::Value>& records);

 private:
  hlo::Value ScalarValue(const ScalarArg& scalar, int64_t argument, int64_t element, DType dtype);
  template <typename T>
  const T* Get(size_t i, std::string_view expected) const;

  hlo::Builder& builder_;
  std::string overload_;
  std::vector<ArgValue> values_;
  int64_t next_parameter_;
  int32_t op_;
  DType default_dtype_;
  std::vector<hlo::Value> scalar_values_;  // of scalar_parameters_
  std::vector<ScalarParameter> scalar_parameters_;
  int64_t philox_parameter_ = -1;
  int64_t philox_numbers_ = 0;
  std::optional<hlo::Value> row_count_;
  std::vector<CountedResult> counted_results_;
  std::vector<hlo::Value> errors_;  // s32[kErrorWords] each
};

DType PromoteTypes(DType a, DType b);  // torch.promote_types
DType ScalarDType(const ScalarArg& scalar, DType default_dtype);

}  // namespace neuron::lowering
