// Discrete Fourier transforms of any length, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace neuron::emulator::wide {

// A plan for one length and direction: mixed radix, and Bluestein's chirp for a large prime factor.
// Not normalised. One plan may not run in two threads at once.
class FourierPlan {
 public:
  FourierPlan(int64_t length, bool inverse);
  void Run(std::complex<double>* data);  // in place, `length` values

 private:
  using Complex = std::complex<double>;
  void Stage(Complex* data, Complex* scratch, int64_t length, int64_t step, size_t factor);
  void Chirp(Complex* data);
  Complex Root(int64_t index) const { return roots_[static_cast<size_t>(index % length_)]; }

  int64_t length_;
  std::vector<int64_t> factors_;  // empty: Bluestein, or length 1
  std::vector<Complex> roots_;    // exp(-+2 pi i k / length)
  std::vector<Complex> scratch_;
  std::vector<Complex> chirp_;      // Bluestein: exp(-+pi i k^2 / length)
  std::vector<Complex> kernel_;     // transform of the conjugate chirp
  std::vector<FourierPlan> inner_;  // {forward, inverse} of a power of two
};

}  // namespace neuron::emulator::wide
