#include "emulator/wide/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace neuron::emulator::wide {

// Reflection for x < 0, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun
// 6.3.6, 6.3.7, 6.3.18).
double Digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    const double fraction = x - std::floor(x);
    return Digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * fraction);
  }
  double shift = 0;
  while (x < 10) {
    shift -= 1 / x;
    x += 1;
  }
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 -
           z * (1.0 / 120 -
                z * (1.0 / 252 -
                     z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
  return shift + std::log(x) - 0.5 / x - series;
}

// Start from Winitzki's closed form, then Halley steps on erf(y) = x; in the tails on erfc, which
// keeps the digits that 1 - x still has.
double Erfinv(double x) {
  const double magnitude = std::fabs(x);
  if (std::isnan(x) || magnitude > 1) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  if (x == 0) return x;
  constexpr double kA = 0.147;
  const double log = std::log1p(-magnitude * magnitude);
  const double half = 2 / (std::numbers::pi * kA) + log / 2;
  double y = std::sqrt(std::sqrt(half * half - log / kA) - half);
  for (int step = 0; step < 4; ++step) {
    const double error = magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-y * y);
    if (slope == 0) break;
    const double newton = error / slope;
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

}  // namespace neuron::emulator::wide
