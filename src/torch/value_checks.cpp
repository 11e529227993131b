#include "torch/value_checks.h"

#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>

namespace neuron::pytorch {
namespace {

using Arguments = std::span<const c10::IValue>;

struct Row {
  std::string_view overload;
  ValueCheck check;
};

// Largest finite value of a floating dtype.
double Largest(at::ScalarType dtype) {
  double largest = std::numeric_limits<double>::max();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "largest", [&] {
    largest = static_cast<double>(std::numeric_limits<scalar_t>::max());
  });
  return largest;
}

void CheckUniform(Arguments a) {
  const double from = a[1].toDouble(), to = a[2].toDouble();
  const at::ScalarType dtype = a[0].toTensor().scalar_type();
  if (at::isFloatingType(dtype)) {
    const double largest = Largest(dtype);
    TORCH_CHECK(std::abs(from) <= largest, "from is out of bounds for ", dtype);
    TORCH_CHECK(std::abs(to) <= largest, "to is out of bounds for ", dtype);
    TORCH_CHECK(from > to || to - from <= largest, "uniform_ expects to-from <= ", largest,
                ", but found to=", to, " and from=", from,
                " which result in to-from to exceed the limit");
  }
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
}

void CheckRange(int64_t from, int64_t to) {
  TORCH_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from,
              " >= to=", to);
}

void CheckRandomFrom(Arguments a) {
  if (!a[2].isNone()) CheckRange(a[1].toInt(), a[2].toInt());
}

void CheckRandomTo(Arguments a) { CheckRange(0, a[1].toInt()); }

void CheckNormal(Arguments a) {
  const double std = a[2].toDouble();
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
}

void CheckLogNormal(Arguments a) {
  const double std = a[2].toDouble();
  TORCH_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
}

void CheckExponential(Arguments a) {
  const double lambda = a[1].toDouble();
  TORCH_CHECK(lambda > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambda);
}

void CheckGeometric(Arguments a) {
  const double p = a[1].toDouble();
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
}

void CheckCauchy(Arguments a) {
  const double sigma = a[2].toDouble();
  TORCH_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
}

void CheckBernoulli(Arguments a) {
  const double p = a[1].toDouble();
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
}

constexpr Row kRows[] = {
    {"aten::uniform_", CheckUniform},        {"aten::normal_", CheckNormal},
    {"aten::log_normal_", CheckLogNormal},   {"aten::exponential_", CheckExponential},
    {"aten::geometric_", CheckGeometric},    {"aten::cauchy_", CheckCauchy},
    {"aten::bernoulli.p", CheckBernoulli},   {"aten::bernoulli_.float", CheckBernoulli},
    {"aten::random_.from", CheckRandomFrom}, {"aten::random_.to", CheckRandomTo},
};

}  // namespace

ValueCheck FindValueCheck(std::string_view overload) {
  for (const Row& row : kRows)
    if (row.overload == overload) return row.check;
  return nullptr;
}

}  // namespace neuron::pytorch
