// From a tile's element type to the C++ type that a kernel computes with: each function calls its
// argument with std::type_identity<T>(), so that a kernel is one template and no switch.
//
//   wide::ForKind(wide::KindOf(dtype), [&]<typename T>(std::type_identity<T>) { Run<T>(tiles); });
#pragma once

#include <complex>
#include <string_view>
#include <type_traits>

#include "base/dtype.h"
#include "base/status.h"
#include "emulator/wide/blocks.h"

namespace neuron::emulator::wide {

// T is what blocks of this kind hold. Returns what `call` returns.
template <typename Call>
decltype(auto) ForKind(Kind kind, Call&& call) {
  switch (kind) {
    case Kind::kInteger:
      return call(std::type_identity<int64_t>());
    case Kind::kFloat:
      return call(std::type_identity<float>());
    case Kind::kDouble:
      return call(std::type_identity<double>());
    case Kind::kComplexFloat:
      return call(std::type_identity<ComplexFloat>());
    case Kind::kComplexDouble:
      break;
  }
  return call(std::type_identity<ComplexDouble>());
}

// T is the element type in memory; for kernels that compute on the tiles themselves, which there
// are for f32, f64, c64 and c128 only.
template <typename Call>
Status ForFieldType(std::string_view kernel, DType dtype, Call&& call) {
  switch (dtype) {
    case DType::kF32:
      call(std::type_identity<float>());
      return OkStatus();
    case DType::kF64:
      call(std::type_identity<double>());
      return OkStatus();
    case DType::kC64:
      call(std::type_identity<ComplexFloat>());
      return OkStatus();
    case DType::kC128:
      call(std::type_identity<ComplexDouble>());
      return OkStatus();
    default:
      return InvalidArgument("gpsimd_kernel ", kernel, ": ", DTypeName(dtype),
                             " is not one of f32, f64, c64, c128");
  }
}

template <typename T>
T Conjugate(T x) {
  return x;
}
template <typename T>
std::complex<T> Conjugate(std::complex<T> x) {
  return std::conj(x);
}

}  // namespace neuron::emulator::wide
