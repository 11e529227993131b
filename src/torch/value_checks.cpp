#include "torch/value_checks.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

namespace neuron::pytorch {
namespace {

using Arguments = std::span<const c10::IValue>;

struct Row {
  std::string_view overload;
  ValueCheck check;
};

void CheckUniform(Arguments a) {
  const double from = a[1].toDouble(), to = a[2].toDouble();
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
}

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
    {"aten::uniform_", CheckUniform},      {"aten::normal_", CheckNormal},
    {"aten::log_normal_", CheckLogNormal}, {"aten::exponential_", CheckExponential},
    {"aten::geometric_", CheckGeometric},  {"aten::cauchy_", CheckCauchy},
    {"aten::bernoulli.p", CheckBernoulli}, {"aten::bernoulli_.float", CheckBernoulli},
};

}  // namespace

ValueCheck FindValueCheck(std::string_view overload) {
  for (const Row& row : kRows)
    if (row.overload == overload) return row.check;
  return nullptr;
}

}  // namespace neuron::pytorch
