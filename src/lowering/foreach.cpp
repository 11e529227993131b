// _foreach_*: the row of the single op, once per element of the lists. One program for all of them.
#include <algorithm>
#include <array>

#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

// A string as a template argument.
template <size_t N>
struct Name {
  constexpr Name(const char (&text)[N]) { std::copy_n(text, N, data.begin()); }  // NOLINT
  std::array<char, N> data{};
  constexpr std::string_view view() const { return {data.data(), N - 1}; }
};

// A number of element `k` as the single op's argument. Run-time numbers become parameters of this
// module here, in the precision the element is computed in; they still promote as numbers.
ArgValue NumberOf(Args& args, size_t i, int64_t element, const ScalarArg& scalar, DType dtype) {
  if (!scalar.run_time) return scalar;
  const bool fractional = scalar.kind >= ScalarArg::Kind::kFloat;
  DType number = fractional ? args.default_dtype() : DType::kS64;
  if (IsFloating(dtype) || IsComplex(dtype))
    number = ComputeType(dtype);
  else if (!fractional && dtype != DType::kPred)
    number = dtype;
  const hlo::Value value = element < 0
                               ? args.scalar(i, number)
                               : args.scalar_element(i, static_cast<size_t>(element), number);
  return TensorArg{value, true};
}

template <Name kSingle>
Values Each(Builder& b, Args& args) {
  const Row* row = FindRow(kSingle.view());
  size_t count = 0;
  DType dtype = DType::kF32;
  for (size_t i = 0; i < args.size(); ++i) {
    if (const auto* list = std::get_if<std::vector<TensorArg>>(&args[i])) count = list->size();
  }
  Values results;
  for (size_t k = 0; k < count; ++k) {
    for (size_t i = args.size(); i-- > 0;) {
      if (const auto* list = std::get_if<std::vector<TensorArg>>(&args[i]))
        dtype = (*list)[k].value.dtype();
    }
    std::vector<ArgValue> values;
    for (size_t i = 0; i < args.size(); ++i) {
      const ArgValue& value = args[i];
      if (const auto* list = std::get_if<std::vector<TensorArg>>(&value)) {
        values.emplace_back((*list)[k]);
      } else if (const auto* scalars = std::get_if<std::vector<ScalarArg>>(&value)) {
        values.push_back(NumberOf(args, i, static_cast<int64_t>(k), (*scalars)[k], dtype));
      } else if (const auto* scalar = std::get_if<ScalarArg>(&value)) {
        values.push_back(NumberOf(args, i, -1, *scalar, dtype));
      } else {
        values.push_back(value);
      }
    }
    Args single(b, kSingle.view(), std::move(values), args.next_parameter(), 0,
                args.default_dtype());
    const Values one = row->lower(b, single);
    if (single.error_record() || !single.scalar_parameters().empty()) {
      b.Fail(Internal(args.overload(), ": ", kSingle.view(), " needs what a list cannot give"));
      return {};
    }
    results.push_back(one.empty() ? hlo::Value() : one[0]);
  }
  return results;
}

// addcmul and addcdiv with one tensor of all the values: element k is its k-th number.
template <Name kSingle>
Values EachWithValues(Builder& b, Args& args) {
  const auto* self = std::get_if<std::vector<TensorArg>>(&args[0]);
  const auto* first = std::get_if<std::vector<TensorArg>>(&args[1]);
  const auto* second = std::get_if<std::vector<TensorArg>>(&args[2]);
  if (self == nullptr || first == nullptr || second == nullptr) return {};
  const hlo::Value numbers = args.tensor(3);
  Values results;
  for (size_t k = 0; k < self->size(); ++k) {
    const auto at = static_cast<int64_t>(k);
    const hlo::Value number = b.Reshape(b.Slice(numbers, {at}, {at + 1}, {1}), {});
    Args single(b, kSingle.view(), {(*self)[k], (*first)[k], (*second)[k], TensorArg{number, true}},
                args.next_parameter(), 0, args.default_dtype());
    results.push_back(FindRow(kSingle.view())->lower(b, single)[0]);
  }
  return results;
}

// (self, ord, dtype): the norm of each tensor.
Values LowerNorm(Builder& b, Args& args) {
  const Row* row = FindRow("aten::linalg_vector_norm");
  Values results;
  const auto* list = std::get_if<std::vector<TensorArg>>(&args[0]);
  if (list == nullptr) return {};
  for (const TensorArg& x : *list) {
    const ArgValue dtype = args.size() > 2 ? args[2] : ArgValue();
    Args single(b, row->overload, {x, args[1], std::monostate(), false, dtype},
                args.next_parameter());
    results.push_back(row->lower(b, single)[0]);
  }
  return results;
}

constexpr uint32_t kE = kElementwise;
constexpr auto kReal = Native::kReal32;

#define UNARY(name) {"aten::_foreach_" name, Each<"aten::" name>, kReal, kE}
// Lists, one number, a number each.
#define BINARY(name, list, scalar, alpha)                                     \
  {"aten::_foreach_" name ".List", Each<list>, kReal, kE, alpha},             \
      {"aten::_foreach_" name ".Scalar", Each<scalar>, kReal, kE, At({1})}, { \
    "aten::_foreach_" name ".ScalarList", Each<scalar>, kReal, kE, At({1})    \
  }
#define TERNARY(name)                                                                    \
  {"aten::_foreach_" name ".Scalar", Each<"aten::" name>, kReal, kE, At({3})},           \
      {"aten::_foreach_" name ".ScalarList", Each<"aten::" name>, kReal, kE, At({3})}, { \
    "aten::_foreach_" name ".Tensor", EachWithValues<"aten::" name>, kReal, kE           \
  }

constexpr Row kRows[] = {
    UNARY("abs"),
    UNARY("acos"),
    UNARY("asin"),
    UNARY("atan"),
    UNARY("ceil"),
    UNARY("clone"),
    UNARY("cos"),
    UNARY("cosh"),
    UNARY("erf"),
    UNARY("erfc"),
    UNARY("exp"),
    UNARY("expm1"),
    UNARY("floor"),
    UNARY("frac"),
    UNARY("lgamma"),
    UNARY("log"),
    UNARY("log10"),
    UNARY("log1p"),
    UNARY("log2"),
    UNARY("neg"),
    UNARY("reciprocal"),
    UNARY("round"),
    UNARY("rsqrt"),
    UNARY("sigmoid"),
    UNARY("sign"),
    UNARY("sin"),
    UNARY("sinh"),
    UNARY("sqrt"),
    UNARY("tan"),
    UNARY("tanh"),
    UNARY("trunc"),
    UNARY("zero"),
    UNARY("copy"),
    BINARY("add", "aten::add.Tensor", "aten::add.Scalar", At({2})),
    BINARY("sub", "aten::sub.Tensor", "aten::sub.Scalar", At({2})),
    BINARY("mul", "aten::mul.Tensor", "aten::mul.Scalar", 0),
    BINARY("div", "aten::div.Tensor", "aten::div.Scalar", 0),
    BINARY("maximum", "aten::maximum", "aten::clamp_min", 0),
    BINARY("minimum", "aten::minimum", "aten::clamp_max", 0),
    BINARY("clamp_min", "aten::maximum", "aten::clamp_min", 0),
    BINARY("clamp_max", "aten::minimum", "aten::clamp_max", 0),
    {"aten::_foreach_add.Tensor", Each<"aten::add.Tensor">, kReal, kE, At({2})},
    {"aten::_foreach_mul.Tensor", Each<"aten::mul.Tensor">, kReal, kE},
    {"aten::_foreach_div.Tensor", Each<"aten::div.Tensor">, kReal, kE},
    TERNARY("addcmul"),
    TERNARY("addcdiv"),
    {"aten::_foreach_lerp.List", Each<"aten::lerp.Tensor">, kReal, kE},
    {"aten::_foreach_lerp.Scalar", Each<"aten::lerp.Scalar">, kReal, kE, At({2})},
    {"aten::_foreach_lerp.ScalarList", Each<"aten::lerp.Scalar">, kReal, kE, At({2})},
    {"aten::_foreach_pow.List", Each<"aten::pow.Tensor_Tensor">, kReal, kE},
    {"aten::_foreach_pow.Scalar", Each<"aten::pow.Tensor_Scalar">, kReal, kE},
    {"aten::_foreach_pow.ScalarList", Each<"aten::pow.Tensor_Scalar">, kReal, kE},
    {"aten::_foreach_pow.ScalarAndTensor", Each<"aten::pow.Scalar">, kReal, kE, At({0})},
    {"aten::_foreach_max", Each<"aten::max">, kReal},
    {"aten::_foreach_norm.Scalar", LowerNorm},
};

}  // namespace

constinit const std::span<const Row> kForeachRows = kRows;

}  // namespace neuron::lowering
