#include "emulator/kernels/kernels.h"

#include <array>
#include <cstdio>

#include "base/environment.h"
#include "base/status.h"
#include "emulator/kernels/families.h"

namespace neuron::emulator {
namespace {

constexpr std::string_view kNames[kNumSimd] = {"portable", "avx2", "avx512", "avx512_bf16"};

bool HostHas(Simd simd) {
#if defined(__x86_64__)
  switch (simd) {
    case Simd::kPortable:
      return true;
    case Simd::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2");
    case Simd::kAvx512:
      return HostHas(Simd::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
    case Simd::kAvx512Bf16:
      return HostHas(Simd::kAvx512) && __builtin_cpu_supports("avx512bf16");
  }
  return false;
#else
  return simd == Simd::kPortable;
#endif
}

#define NEURON_FILL(family) FillPortable##family(table);
#define NEURON_FILL_AVX2(family) FillAvx2##family(table);
#define NEURON_FILL_AVX512(family) FillAvx512##family(table);

KernelTable Make(Simd simd) {
  KernelTable table;
#if defined(__x86_64__)
  if (simd >= Simd::kAvx512) {
    NEURON_KERNEL_FAMILIES(NEURON_FILL_AVX512)
    if (simd == Simd::kAvx512Bf16) FillAvx512Bf16Matmul(table);
    return table;
  }
  if (simd == Simd::kAvx2) {
    NEURON_KERNEL_FAMILIES(NEURON_FILL_AVX2)
    return table;
  }
#endif
  NEURON_KERNEL_FAMILIES(NEURON_FILL)
  return table;
}

Simd Choose() {
  Simd best = Simd::kPortable;
  for (int i = 0; i < kNumSimd; ++i)
    if (HostHas(static_cast<Simd>(i))) best = static_cast<Simd>(i);
  const auto name = Read(Variable::kSimd);
  if (!name) return best;
  for (int i = 0; i < kNumSimd; ++i) {
    if (*name != kNames[i]) continue;
    if (HostHas(static_cast<Simd>(i))) return static_cast<Simd>(i);
    std::fprintf(stderr, "torchneuron: TORCHNEURON_SIMD=%s, which this host lacks; using %s\n",
                 name->c_str(), std::string(SimdName(best)).c_str());
    return best;
  }
  std::fprintf(stderr,
               "torchneuron: TORCHNEURON_SIMD=%s is unknown (portable, avx2, avx512, "
               "avx512_bf16); using %s\n",
               name->c_str(), std::string(SimdName(best)).c_str());
  return best;
}

}  // namespace

std::string_view SimdName(Simd simd) { return kNames[static_cast<int>(simd)]; }

Simd ActiveSimd() {
  static const Simd simd = Choose();
  return simd;
}

const KernelTable* KernelsOf(Simd simd) {
  if (!HostHas(simd)) return nullptr;
  static const std::array<KernelTable, kNumSimd> tables = [] {
    std::array<KernelTable, kNumSimd> made;
    for (int i = 0; i < kNumSimd; ++i)
      if (HostHas(static_cast<Simd>(i))) made[i] = Make(static_cast<Simd>(i));
    return made;
  }();
  return &tables[static_cast<int>(simd)];
}

const KernelTable& Kernels() {
  static const KernelTable* const table = KernelsOf(ActiveSimd());
  return *table;
}

}  // namespace neuron::emulator
