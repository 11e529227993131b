// GpSimd kernels: general code for what is irregular on the chip too.
//
// A kernel is a function of tiles (dense spans of HBM, outputs first) and integers (its packed
// parameters, isa/kernel_parameters.h). One file each in gpsimd_kernels/, found by the file's stem.
// A kernel checks its parameters against the spans before it touches memory, is deterministic and
// holds no state between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"

namespace neuron::emulator {

struct KernelTensor {
  std::byte* data = nullptr;
  DType dtype = DType::kInvalid;
  int64_t elements = 0;
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data);  // NOLINT(*-reinterpret-cast): HBM is untyped bytes
  }
};

using GpSimdKernel = Status (*)(std::span<const KernelTensor> tiles,
                                std::span<const int64_t> parameters);

// nullptr if no kernel has this name.
GpSimdKernel FindGpSimdKernel(std::string_view name);

}  // namespace neuron::emulator
