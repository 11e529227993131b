// Special functions of double that the C++ library lacks.
#pragma once

namespace neuron::emulator::wide {

double Digamma(double x);  // NaN at negative integers, -+inf at +-0
double Erfinv(double x);   // +-inf at +-1, NaN outside [-1, 1]

}  // namespace neuron::emulator::wide
