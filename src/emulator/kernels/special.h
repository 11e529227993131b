// Special functions in double precision, for activation functions without a vector form.
#pragma once

namespace neuron::emulator::special {

double ErfInverse(double x);  // NaN outside [-1, 1], infinite at its ends
double LogGamma(double x);    // thread safe, unlike std::lgamma
double Digamma(double x);     // NaN at negative integers, -+infinity at +-0
double BesselI0e(double x);   // exp(-|x|) I0(x)
double BesselI1e(double x);

}  // namespace neuron::emulator::special
