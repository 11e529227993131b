// The kernel families: each fills its entries of a table, once per SIMD target.
#pragma once

#include "emulator/kernels/kernels.h"

namespace neuron::emulator {

#define NEURON_KERNEL_FAMILIES(X) \
  X(Convert)                      \
  X(Alu)                          \
  X(Activation)                   \
  X(Reduce)                       \
  X(Matmul)                       \
  X(Move)

#define NEURON_DECLARE_FAMILY(family)            \
  void FillPortable##family(KernelTable& table); \
  void FillAvx2##family(KernelTable& table);     \
  void FillAvx512##family(KernelTable& table);
NEURON_KERNEL_FAMILIES(NEURON_DECLARE_FAMILY)
#undef NEURON_DECLARE_FAMILY
void FillAvx512Bf16Matmul(KernelTable& table);

}  // namespace neuron::emulator

// At the end of a family's source, after foreach_target.h: defines the three Fill functions from
// the Fill of each target's namespace.
#if defined(__x86_64__)
#define NEURON_DEFINE_FAMILY(family)                                               \
  void FillPortable##family(KernelTable& table) { portable::Fill##family(table); } \
  void FillAvx2##family(KernelTable& table) { avx2::Fill##family(table); }         \
  void FillAvx512##family(KernelTable& table) { avx512::Fill##family(table); }
#else
#define NEURON_DEFINE_FAMILY(family) \
  void FillPortable##family(KernelTable& table) { portable::Fill##family(table); }
#endif
