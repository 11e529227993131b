#include "emulator/wide/fourier.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace neuron::emulator::wide {
namespace {

using Complex = std::complex<double>;
constexpr int64_t kLargestRadix = 31;

Complex Multiply(Complex a, Complex b) {  // without the NaN recovery of operator*
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

FourierPlan::FourierPlan(int64_t length, bool inverse) : length_(length) {
  const double sign = inverse ? 1 : -1;
  int64_t rest = length;
  for (int64_t factor = 2; rest > 1 && factor <= kLargestRadix; ++factor)
    for (; rest % factor == 0; rest /= factor) factors_.push_back(factor);
  if (rest > 1) {
    factors_.clear();
    const int64_t padded =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
    inner_.emplace_back(padded, false);
    inner_.emplace_back(padded, true);
    chirp_.resize(static_cast<size_t>(length));
    kernel_.resize(static_cast<size_t>(padded));
    scratch_.resize(static_cast<size_t>(padded));
    const __int128 period = static_cast<__int128>(length) * 2;
    for (int64_t k = 0; k < length; ++k) {
      const int64_t square = static_cast<int64_t>(static_cast<__int128>(k) * k % period);
      chirp_[static_cast<size_t>(k)] = std::polar(
          1.0, sign * std::numbers::pi * static_cast<double>(square) / static_cast<double>(length));
      const Complex conjugate = std::conj(chirp_[static_cast<size_t>(k)]);
      kernel_[static_cast<size_t>(k)] = conjugate;
      if (k > 0) kernel_[static_cast<size_t>(padded - k)] = conjugate;
    }
    inner_[0].Run(kernel_.data());
    return;
  }
  scratch_.resize(static_cast<size_t>(length));
  roots_.resize(static_cast<size_t>(length));
  for (int64_t k = 0; k < length; ++k)
    roots_[static_cast<size_t>(k)] = std::polar(
        1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
}

void FourierPlan::Run(Complex* data) {
  if (length_ <= 1) return;
  if (factors_.empty()) return Chirp(data);
  Stage(data, scratch_.data(), length_, 1, 0);
}

// Decimation in time: `data` holds `length` values, result in `data`; `scratch` is as large.
// Roots of this length are every `step`-th of the plan's.
void FourierPlan::Stage(Complex* data, Complex* scratch, int64_t length, int64_t step,
                        size_t factor) {
  if (length == 1) return;
  const int64_t radix = factors_[factor], part = length / radix;
  for (int64_t r = 0; r < radix; ++r)
    for (int64_t k = 0; k < part; ++k) scratch[r * part + k] = data[k * radix + r];
  for (int64_t r = 0; r < radix; ++r)
    Stage(scratch + r * part, data + r * part, part, step * radix, factor + 1);
  Complex twisted[kLargestRadix];
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t r = 0; r < radix; ++r)
      twisted[r] = Multiply(scratch[r * part + k], Root(r * k * step));
    if (radix == 2) {
      data[k] = twisted[0] + twisted[1];
      data[k + part] = twisted[0] - twisted[1];
      continue;
    }
    for (int64_t q = 0; q < radix; ++q) {
      Complex sum = twisted[0];
      for (int64_t r = 1; r < radix; ++r)
        sum += Multiply(twisted[r], Root(r * q % radix * part * step));
      data[k + q * part] = sum;
    }
  }
}

void FourierPlan::Chirp(Complex* data) {
  std::fill(scratch_.begin(), scratch_.end(), Complex(0));
  for (size_t k = 0; k < chirp_.size(); ++k) scratch_[k] = Multiply(data[k], chirp_[k]);
  inner_[0].Run(scratch_.data());
  for (size_t k = 0; k < scratch_.size(); ++k) scratch_[k] = Multiply(scratch_[k], kernel_[k]);
  inner_[1].Run(scratch_.data());
  const double scale = 1 / static_cast<double>(scratch_.size());
  for (size_t k = 0; k < chirp_.size(); ++k) data[k] = Multiply(scratch_[k], chirp_[k]) * scale;
}

}  // namespace neuron::emulator::wide
