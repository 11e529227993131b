#include "emulator/kernels/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace neuron::emulator::special {
namespace {

// I_v(x) exp(-x) for x >= 0: ascending series up to 12, asymptotic beyond; relative error 1e-10.
double BesselIe(int order, double x) {
  if (x < 25.0) {
    const double half = 0.5 * x;
    double term = order == 0 ? 1.0 : half;
    double sum = term;
    for (int k = 1; k < 100; ++k) {
      term *= half * half / (k * (k + order));
      sum += term;
      if (term < sum * 1e-17) break;
    }
    return sum * std::exp(-x);
  }
  const double mu = 4.0 * order * order;
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; k < 20; ++k) {
    const double odd = 2 * k - 1;
    const double next = term * -(mu - odd * odd) / (k * 8.0 * x);
    if (std::fabs(next) > std::fabs(term)) break;
    term = next;
    sum += term;
  }
  return sum / std::sqrt(2.0 * std::numbers::pi * x);
}

}  // namespace

double ErfInverse(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  // Winitzki's estimate, then Newton steps on erf (erfc near 1, where erf has lost its digits).
  const double a = 0.147;
  const double log_term = std::log1p(-x * x);
  const double b = 2.0 / (std::numbers::pi * a) + 0.5 * log_term;
  double y = std::copysign(std::sqrt(std::sqrt(b * b - log_term / a) - b), x);
  for (int i = 0; i < 3; ++i) {
    const double slope = 1.12837916709551257390 * std::exp(-y * y);
    const double error = std::fabs(x) < 0.5 ? std::erf(y) - x
                         : x > 0            ? (1.0 - x) - std::erfc(y)
                                            : std::erfc(-y) - (1.0 + x);
    y -= error / slope;
  }
  return x == 0 ? x : y;
}

double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

double Digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double result = 0;
  if (x < 0) {
    double whole = 0;
    const double fraction = std::modf(x, &whole);
    if (fraction == 0) return std::numeric_limits<double>::quiet_NaN();
    result = -std::numbers::pi / std::tan(std::numbers::pi * fraction);
    x = 1 - x;
  }
  while (x < 12) {
    result -= 1 / x;
    x += 1;
  }
  if (std::isinf(x)) return x;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132)))));
  return result + std::log(x) - 0.5 / x - series;
}

double BesselI0e(double x) { return std::isnan(x) ? x : BesselIe(0, std::fabs(x)); }
double BesselI1e(double x) {
  return std::isnan(x) ? x : std::copysign(BesselIe(1, std::fabs(x)), x);
}

}  // namespace neuron::emulator::special
