// Compiles NEURON_SIMD_SOURCE once per SIMD target, each in its own namespace, with target
// attributes rather than per-file flags: a header's inline function keeps its baseline code.
//
//   #define NEURON_SIMD_SOURCE "emulator/kernels/convert.inl.h"
//   #include "emulator/kernels/foreach_target.h"
// All standard headers that the source needs are included by the .cpp before this one.

#define NEURON_SIMD_LEVEL 0
#define NEURON_SIMD_NAMESPACE portable
#include NEURON_SIMD_SOURCE
#undef NEURON_SIMD_LEVEL
#undef NEURON_SIMD_NAMESPACE

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt")
#define NEURON_SIMD_LEVEL 1
#define NEURON_SIMD_NAMESPACE avx2
#include NEURON_SIMD_SOURCE
#undef NEURON_SIMD_LEVEL
#undef NEURON_SIMD_NAMESPACE
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target( \
    "avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,prefer-vector-width=512")
#define NEURON_SIMD_LEVEL 2
#define NEURON_SIMD_NAMESPACE avx512
#include NEURON_SIMD_SOURCE
#undef NEURON_SIMD_LEVEL
#undef NEURON_SIMD_NAMESPACE
#pragma GCC pop_options
#endif
