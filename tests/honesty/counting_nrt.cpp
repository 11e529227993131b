// An NRT library that hands every call on to the one named by COUNTING_NRT_TO and counts it. It
// has none of our extensions: what runs on it runs on plain NRT. The counts are written to the
// file COUNTING_NRT_RECORD, "name count" per line, when the process ends.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "nrt/functions.h"
#include "nrt/nrt_abi.h"

namespace {

enum Function : size_t {
#define X(name) k_##name,
  NEURON_NRT_MANDATORY(X) NEURON_NRT_OPTIONAL(X)
#undef X
      kNumFunctions
};
constexpr const char* kNames[] = {
#define X(name) #name,
    NEURON_NRT_MANDATORY(X) NEURON_NRT_OPTIONAL(X)
#undef X
};

std::array<std::atomic<long>, kNumFunctions> counts;

void WriteCounts() {
  const char* path = std::getenv("COUNTING_NRT_RECORD");
  FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  for (size_t i = 0; i < kNumFunctions; ++i)
    if (counts[i] != 0) std::fprintf(file, "%s %ld\n", kNames[i], counts[i].load());
  std::fclose(file);
}

void* Target(Function function) {
  static void* library = [] {
    const char* path = std::getenv("COUNTING_NRT_TO");
    void* handle = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (handle == nullptr) {
      std::fprintf(stderr, "counting_nrt: COUNTING_NRT_TO: %s\n", dlerror());
      std::abort();
    }
    return handle;
  }();
  return dlsym(library, kNames[function]);
}

template <Function function, typename Signature>
struct Forward;
template <Function function, typename Result, typename... Arguments>
struct Forward<function, Result(Arguments...)> {
  static Result Call(Arguments... arguments) {
    static const auto target = reinterpret_cast<Result (*)(Arguments...)>(Target(function));
    if (++counts[function] == 1 && function == k_nrt_init) std::atexit(WriteCounts);
    return target(arguments...);
  }
};

}  // namespace

// Each exported symbol resolves to the template's instance of its own signature.
#define X(name)                                                                                    \
  extern "C" decltype(&name) Resolve_##name() { return &Forward<k_##name, decltype(name)>::Call; } \
  extern "C" __attribute__((visibility("default"), ifunc("Resolve_" #name))) decltype(name) name;
NEURON_NRT_MANDATORY(X)
NEURON_NRT_OPTIONAL(X)
#undef X
