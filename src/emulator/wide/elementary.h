// Operators whose formula is the same for real and complex numbers.
#pragma once

#include <cmath>
#include <complex>  // IWYU pragma: keep (overloads of the functions of cmath)

#include "emulator/wide/evaluator.h"

namespace neuron::emulator::wide {

// Calls each(f) with the function from an element's index to its result; false if `op` is none of
// these. `a`, `b`: the operands' elements.
template <typename T, typename Each>
bool RunElementary(isa::WideOp op, const T* a, const T* b, const Each& each) {
  using isa::WideOp;
  switch (op) {
    case WideOp::kAdd:
      return each([&](int i) { return a[i] + b[i]; }), true;
    case WideOp::kSubtract:
      return each([&](int i) { return a[i] - b[i]; }), true;
    case WideOp::kMultiply:
      return each([&](int i) { return a[i] * b[i]; }), true;
    case WideOp::kDivide:
      return each([&](int i) { return a[i] / b[i]; }), true;
    case WideOp::kNegate:
      return each([&](int i) { return -a[i]; }), true;
    case WideOp::kCos:
      return each([&](int i) { return std::cos(a[i]); }), true;
    case WideOp::kSin:
      return each([&](int i) { return std::sin(a[i]); }), true;
    case WideOp::kTan:
      return each([&](int i) { return std::tan(a[i]); }), true;
    case WideOp::kTanh:
      return each([&](int i) { return std::tanh(a[i]); }), true;
    case WideOp::kCosh:
      return each([&](int i) { return std::cosh(a[i]); }), true;
    case WideOp::kSinh:
      return each([&](int i) { return std::sinh(a[i]); }), true;
    case WideOp::kAcos:
      return each([&](int i) { return std::acos(a[i]); }), true;
    case WideOp::kAcosh:
      return each([&](int i) { return std::acosh(a[i]); }), true;
    case WideOp::kAsin:
      return each([&](int i) { return std::asin(a[i]); }), true;
    case WideOp::kAsinh:
      return each([&](int i) { return std::asinh(a[i]); }), true;
    case WideOp::kAtan:
      return each([&](int i) { return std::atan(a[i]); }), true;
    case WideOp::kAtanh:
      return each([&](int i) { return std::atanh(a[i]); }), true;
    case WideOp::kExp:
      return each([&](int i) { return std::exp(a[i]); }), true;
    case WideOp::kLog:
      return each([&](int i) { return std::log(a[i]); }), true;
    case WideOp::kLogistic:
      return each([&](int i) { return T(1) / (T(1) + std::exp(-a[i])); }), true;
    case WideOp::kRsqrt:
      return each([&](int i) { return T(1) / std::sqrt(a[i]); }), true;
    case WideOp::kSqrt:
      return each([&](int i) { return std::sqrt(a[i]); }), true;
    default:
      return false;
  }
}

}  // namespace neuron::emulator::wide
