#include "lowering/args.h"

#include <limits>

#include "hlo/literal.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Literal;
using hlo::Shape;
using hlo::Value;

enum class Category : uint8_t { kNone, kBool, kInteger, kFloating, kComplex };

Category CategoryOf(DType dtype) {
  if (dtype == DType::kInvalid) return Category::kNone;
  if (IsComplex(dtype)) return Category::kComplex;
  if (IsFloating(dtype)) return Category::kFloating;
  return dtype == DType::kPred ? Category::kBool : Category::kInteger;
}

DType ToComplex(DType dtype) { return dtype == DType::kF64 ? DType::kC128 : DType::kC64; }

DType PromoteSkipUndefined(DType a, DType b) {
  if (a == DType::kInvalid) return b;
  if (b == DType::kInvalid) return a;
  return PromoteTypes(a, b);
}

// `lower` has lower priority: it decides only where its category is higher.
DType Combine(DType higher, DType lower) {
  const Category h = CategoryOf(higher);
  const Category l = CategoryOf(lower);
  if (h == Category::kComplex) return higher;
  if (h == Category::kFloating) return l == Category::kComplex ? ToComplex(higher) : higher;
  if (h == Category::kBool || l == Category::kFloating || l == Category::kComplex)
    return PromoteSkipUndefined(higher, lower);
  return higher != DType::kInvalid ? higher : lower;
}

std::string_view KindName(const ArgValue& value) {
  constexpr std::string_view kNames[] = {"None", "Tensor", "Tensor[]", "number",
                                         "bool", "int[]",  "float[]",  "bool[]",
                                         "str",  "dtype",  "Scalar[]"};
  return kNames[value.index()];
}

}  // namespace

DType PromoteTypes(DType a, DType b) {
  if (a == b) return a;
  const Category ca = CategoryOf(a);
  const Category cb = CategoryOf(b);
  if (ca < cb) return PromoteTypes(b, a);
  switch (ca) {
    case Category::kComplex:
      return a == DType::kC128 || b == DType::kC128 || b == DType::kF64 ? DType::kC128 : a;
    case Category::kFloating:
      if (cb != Category::kFloating) return a;
      if (ByteSize(a) == 1 && ByteSize(b) > 1) return b;
      if (ByteSize(b) == 1 && ByteSize(a) > 1) return a;
      if (a == DType::kF64 || b == DType::kF64) return DType::kF64;
      return DType::kF32;  // f32 with a half, or f16 with bf16
    case Category::kInteger: {
      if (cb != Category::kInteger) return a;
      const int64_t size_a = ByteSize(a);
      const int64_t size_b = ByteSize(b);
      if (IsSigned(a) == IsSigned(b)) return size_a >= size_b ? a : b;
      const DType wide = IsSigned(a) ? a : b;
      const int64_t unsigned_size = IsSigned(a) ? size_b : size_a;
      if (ByteSize(wide) > unsigned_size) return wide;
      // Only u8 has a wider signed partner in PyTorch.
      return unsigned_size == 1 ? DType::kS16 : unsigned_size == 2 ? DType::kS32 : DType::kS64;
    }
    default:
      return a;
  }
}

DType ScalarDType(const ScalarArg& scalar, DType default_dtype) {
  if (scalar.tensor_dtype != DType::kInvalid) return scalar.tensor_dtype;
  switch (scalar.kind) {
    case ScalarArg::Kind::kBool:
      return DType::kPred;
    case ScalarArg::Kind::kInt:
      return DType::kS64;
    case ScalarArg::Kind::kFloat:
      return default_dtype;
    case ScalarArg::Kind::kComplex:
      return ToComplex(default_dtype);
  }
  return DType::kInvalid;
}

Args::Args(Builder& builder, std::string_view overload, std::vector<ArgValue> values,
           int64_t next_parameter, int32_t op, DType default_dtype)
    : builder_(builder),
      overload_(overload),
      values_(std::move(values)),
      next_parameter_(next_parameter),
      op_(op),
      default_dtype_(default_dtype) {}

template <typename T>
const T* Args::Get(size_t i, std::string_view expected) const {
  if (i < values_.size()) {
    if (const T* value = std::get_if<T>(&values_[i])) return value;
  }
  builder_.Fail(Internal(overload_, ": argument ", i, " is ",
                         i < values_.size() ? KindName(values_[i]) : "missing",
                         ", the lowering reads it as ", expected));
  return nullptr;
}

bool Args::is_number(size_t i) const {
  return i < values_.size() && std::holds_alternative<ScalarArg>(values_[i]);
}

bool Args::is_none(size_t i) const {
  if (i >= values_.size()) return true;
  if (std::holds_alternative<std::monostate>(values_[i])) return true;
  const TensorArg* tensor = std::get_if<TensorArg>(&values_[i]);
  return tensor != nullptr && !tensor->value.valid();
}

Value Args::tensor(size_t i) {
  if (i < values_.size()) {
    if (const auto* scalar = std::get_if<ScalarArg>(&values_[i]))
      return ScalarValue(*scalar, static_cast<int64_t>(i), -1,
                         ScalarDType(*scalar, default_dtype_));
  }
  const TensorArg* tensor = Get<TensorArg>(i, "Tensor");
  if (tensor == nullptr) return {};
  if (!tensor->value.valid())
    builder_.Fail(Internal(overload_, ": argument ", i, " is an undefined tensor"));
  return tensor->value;
}

Value Args::operand(size_t i, DType dtype) {
  if (i < values_.size()) {
    if (const auto* scalar = std::get_if<ScalarArg>(&values_[i]))
      return ScalarValue(*scalar, static_cast<int64_t>(i), -1, dtype);
  }
  return builder_.Convert(tensor(i), dtype);
}

DType Args::dtype_of(size_t i) const {
  if (i < values_.size()) {
    if (const auto* scalar = std::get_if<ScalarArg>(&values_[i]))
      return ScalarDType(*scalar, default_dtype_);
  }
  const TensorArg* tensor = Get<TensorArg>(i, "Tensor");
  return tensor == nullptr ? DType::kF32 : tensor->value.dtype();
}

std::optional<Value> Args::optional_tensor(size_t i) {
  if (is_none(i)) return std::nullopt;
  return tensor(i);
}

std::vector<Value> Args::tensors(size_t i) {
  std::vector<Value> out;
  if (is_none(i)) return out;
  if (const auto* list = Get<std::vector<TensorArg>>(i, "Tensor[]")) {
    for (const TensorArg& tensor : *list) out.push_back(tensor.value);
  }
  return out;
}

int64_t Args::integer(size_t i) const {
  if (i < values_.size()) {
    if (const bool* flag = std::get_if<bool>(&values_[i])) return *flag ? 1 : 0;
  }
  const auto* scalar = Get<ScalarArg>(i, "int");
  if (scalar == nullptr) return 0;
  if (scalar->run_time)
    builder_.Fail(
        Internal(overload_, ": argument ", i, " is run-time, the lowering needs its value"));
  if (scalar->kind >= ScalarArg::Kind::kFloat) return static_cast<int64_t>(scalar->number.real());
  return scalar->integer;
}

int64_t Args::integer_or(size_t i, int64_t otherwise) const {
  return is_none(i) ? otherwise : integer(i);
}

double Args::number(size_t i) const {
  if (i < values_.size()) {
    if (const bool* flag = std::get_if<bool>(&values_[i])) return *flag ? 1 : 0;
  }
  const auto* scalar = Get<ScalarArg>(i, "float");
  if (scalar == nullptr) return 0;
  if (scalar->run_time)
    builder_.Fail(
        Internal(overload_, ": argument ", i, " is run-time, the lowering needs its value"));
  if (scalar->kind >= ScalarArg::Kind::kFloat) return scalar->number.real();
  return static_cast<double>(scalar->integer);
}

double Args::number_or(size_t i, double otherwise) const {
  return is_none(i) ? otherwise : number(i);
}

bool Args::flag(size_t i) const {
  if (is_none(i)) return false;
  if (std::holds_alternative<ScalarArg>(values_[i])) return integer(i) != 0;
  const bool* flag = Get<bool>(i, "bool");
  return flag != nullptr && *flag;
}

std::vector<int64_t> Args::integers(size_t i) const {
  if (i < values_.size() && std::holds_alternative<ScalarArg>(values_[i])) return {integer(i)};
  const auto* list = Get<std::vector<int64_t>>(i, "int[]");
  return list == nullptr ? std::vector<int64_t>{} : *list;
}

std::vector<int64_t> Args::integers_or(size_t i, std::vector<int64_t> otherwise) const {
  return is_none(i) ? std::move(otherwise) : integers(i);
}

std::string_view Args::text(size_t i) const {
  if (is_none(i)) return "";
  const auto* text = Get<std::string>(i, "str");
  return text == nullptr ? std::string_view() : *text;
}

std::optional<DType> Args::dtype(size_t i) const {
  if (is_none(i)) return std::nullopt;
  const DType* dtype = Get<DType>(i, "dtype");
  if (dtype == nullptr) return std::nullopt;
  return *dtype;
}

const ScalarArg& Args::scalar_arg(size_t i) const {
  static const ScalarArg kZero;
  const auto* scalar = Get<ScalarArg>(i, "Scalar");
  return scalar == nullptr ? kZero : *scalar;
}

Value Args::ScalarValue(const ScalarArg& scalar, int64_t argument, int64_t element, DType dtype) {
  if (scalar.run_time && dtype == DType::kC128) {  // wider than a slot of the scalar block
    if (scalar.kind == ScalarArg::Kind::kComplex) {
      builder_.Fail(Unimplemented(overload_, ": a run-time scalar of complex128"));
      return {};
    }
    const Value real = ScalarValue(scalar, argument, element, DType::kF64);
    return builder_.Complex(real, builder_.Constant(DType::kF64, 0.0));
  }
  if (scalar.run_time) {
    for (size_t k = 0; k < scalar_parameters_.size(); ++k) {
      const ScalarParameter& p = scalar_parameters_[k];
      if (p.argument == argument && p.element == element && p.dtype == dtype)
        return scalar_values_[k];
    }
    const Value value = builder_.Parameter(next_parameter_, Shape::Array(dtype, {}));
    scalar_parameters_.push_back({argument, element, dtype, next_parameter_++});
    scalar_values_.push_back(value);
    return value;
  }
  if (IsComplex(dtype)) {
    const std::complex<double> z = scalar.kind >= ScalarArg::Kind::kFloat
                                       ? scalar.number
                                       : std::complex<double>(static_cast<double>(scalar.integer));
    return builder_.Constant(Literal::ScalarComplex(dtype, z));
  }
  if (scalar.kind >= ScalarArg::Kind::kFloat) {
    if (dtype == DType::kPred) return builder_.Constant(dtype, scalar.number != 0.0 ? 1.0 : 0.0);
    return builder_.Constant(dtype, scalar.number.real());
  }
  if (dtype == DType::kPred) return builder_.ConstantInt(dtype, scalar.integer != 0 ? 1 : 0);
  if (IsFloating(dtype)) return builder_.Constant(dtype, static_cast<double>(scalar.integer));
  return builder_.ConstantInt(dtype, scalar.integer);
}

Value Args::scalar(size_t i, DType dtype) {
  if (i < values_.size() && std::holds_alternative<TensorArg>(values_[i])) return operand(i, dtype);
  return ScalarValue(scalar_arg(i), static_cast<int64_t>(i), -1, dtype);
}

Value Args::scalar_element(size_t i, size_t element, DType dtype) {
  if (i < values_.size()) {
    if (const auto* list = std::get_if<std::vector<double>>(&values_[i])) {
      if (element < list->size()) return builder_.Constant(dtype, (*list)[element]);
    }
  }
  const auto* list = Get<std::vector<ScalarArg>>(i, "Scalar[]");
  if (list == nullptr) return {};
  if (element >= list->size()) {
    builder_.Fail(InvalidArgument(overload_, ": argument ", i, " has ", list->size(),
                                  " scalars, the tensor list is longer"));
    return {};
  }
  return ScalarValue((*list)[element], static_cast<int64_t>(i), static_cast<int64_t>(element),
                     dtype);
}

bool Args::scalar_is(size_t i, double value) const {
  if (i >= values_.size()) return false;
  const auto* scalar = std::get_if<ScalarArg>(&values_[i]);
  if (scalar == nullptr || scalar->run_time) return false;
  if (scalar->kind >= ScalarArg::Kind::kFloat) return scalar->number == value;
  return static_cast<double>(scalar->integer) == value;
}

Value Args::Philox(int64_t numbers) {
  if (philox_parameter_ >= 0) {
    builder_.Fail(Internal(overload_, ": draws random numbers twice"));
    return {};
  }
  philox_parameter_ = next_parameter_++;
  philox_numbers_ = numbers;
  return builder_.Parameter(philox_parameter_, Shape::Array(DType::kU64, {2}));
}

namespace {

// INT_MIN stands for "no element is bad", so that one reduction finds both whether and which. An
// index word of INT_MIN is reported as its neighbour.
constexpr int32_t kNoIndex = std::numeric_limits<int32_t>::min();

// The largest of `words` (s32) where `bad` is set, else kNoIndex.
Value Worst(Builder& b, Value bad, Value words) {
  const Value none = b.ConstantInt(DType::kS32, kNoIndex);
  const Value shown = b.Maximum(words, b.ConstantInt(DType::kS32, kNoIndex + 1));
  const Value candidates = b.Select(bad, shown, b.Broadcast(none, bad.shape().dims, {}));
  std::vector<int64_t> all(bad.shape().dims.size());
  for (size_t d = 0; d < all.size(); ++d) all[d] = static_cast<int64_t>(d);
  return b.ReduceMax(candidates, all);
}

}  // namespace

void Args::Report(DataError code, int32_t operand, Value bad) {
  Report(code, operand, bad, builder_.Full(Shape::Array(DType::kS32, bad.shape().dims), 0));
}

void Args::Report(DataError code, int32_t operand, Value bad, Value index, Value high,
                  Extent extent) {
  Builder& b = builder_;
  const Value none = b.ConstantInt(DType::kS32, kNoIndex);
  Value low, top, decides;
  if (high.valid()) {
    // Both words of one element: the largest high word, and the largest low word beside it.
    decides = top = Worst(b, bad, high);
    const Value beside =
        b.Compare(hlo::Comparison::kEq, high, b.Broadcast(top, high.shape().dims, {}));
    low = Worst(b, b.And(bad, beside), index);
  } else {
    decides = low = Worst(b, bad, index);
    top = b.ShiftRightArithmetic(low, b.ConstantInt(DType::kS32, 31));
  }
  const Value any = b.Compare(hlo::Comparison::kNe, decides, none);
  const auto constant = [&](int64_t value) {
    return b.Reshape(b.ConstantInt(DType::kS32, value), {1});
  };
  const Value parts[] = {constant(static_cast<int64_t>(code)),
                         constant(op_),
                         constant(operand),
                         b.Reshape(low, {1}),
                         b.Reshape(top, {1}),
                         constant(extent.dimension),
                         constant(extent.size)};
  const Value record = b.Concatenate(parts, 0);
  errors_.push_back(b.Select(b.Broadcast(any, {kErrorWords}, {}), record, b.ZerosLike(record)));
}

Value Args::FirstError(Builder& b, const std::vector<Value>& records) {
  Value first = records.back();
  for (size_t i = records.size() - 1; i-- > 0;) {
    const Value code = b.Reshape(b.Slice(records[i], {0}, {1}, {1}), {});
    const Value failed = b.Compare(hlo::Comparison::kNe, code, b.ConstantInt(DType::kS32, 0));
    first = b.Select(b.Broadcast(failed, {kErrorWords}, {}), records[i], first);
  }
  return first;
}

void Args::SetRows(Value count, std::vector<CountedResult> results) {
  row_count_ = count;
  counted_results_ = std::move(results);
}

std::optional<Value> Args::error_record() {
  if (errors_.empty()) return std::nullopt;
  return FirstError(builder_, errors_);
}

DType Args::ResultType(std::initializer_list<size_t> positions) const {
  DType dimensioned = DType::kInvalid;
  DType zero_dim = DType::kInvalid;
  DType number = DType::kInvalid;
  const auto add_tensor = [&](const TensorArg& tensor) {
    if (!tensor.value.valid()) return;
    DType dtype = tensor.value.dtype();
    if (tensor.wrapped_number) {
      if (IsComplex(dtype))
        dtype = ToComplex(default_dtype_);
      else if (IsFloating(dtype))
        dtype = default_dtype_;
      number = PromoteSkipUndefined(number, dtype);
    } else if (tensor.value.rank() == 0) {
      zero_dim = PromoteSkipUndefined(zero_dim, dtype);
    } else {
      dimensioned = PromoteSkipUndefined(dimensioned, dtype);
    }
  };
  for (const size_t i : positions) {
    if (i >= values_.size()) continue;
    if (const auto* tensor = std::get_if<TensorArg>(&values_[i])) {
      add_tensor(*tensor);
    } else if (const auto* list = std::get_if<std::vector<TensorArg>>(&values_[i])) {
      for (const TensorArg& element : *list) add_tensor(element);
    } else if (const auto* scalar = std::get_if<ScalarArg>(&values_[i])) {
      const DType dtype = ScalarDType(*scalar, default_dtype_);
      DType& where = scalar->tensor_dtype == DType::kInvalid ? number : zero_dim;
      where = PromoteSkipUndefined(where, dtype);
    }
  }
  return Combine(dimensioned, Combine(zero_dim, number));
}

}  // namespace neuron::lowering
