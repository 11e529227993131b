// An NRT library that offers the public functions only and passes each call on to another library
// (FORWARDING_NRT_TO, our emulator), counting it. Through it the whole stack runs on the emulator
// without being able to see any extension: what works here needs nothing but NRT.
//
// FORWARDING_NRT_LOG names a file that gets "name count" per function called, at exit. A function
// that the other library lacks fails with NRT_FAILURE.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "nrt/functions.h"
#include "nrt/nrt_abi.h"

namespace {

#define NEURON_PUBLIC(X) NEURON_NRT_MANDATORY(X) NEURON_NRT_OPTIONAL(X)

enum Function : size_t {
#define X(name) k_##name,
  NEURON_PUBLIC(X)
#undef X
      kNumFunctions
};
constexpr const char* kNames[] = {
#define X(name) #name,
    NEURON_PUBLIC(X)
#undef X
};

std::array<std::atomic<int64_t>, kNumFunctions> calls;

void* Target(Function function) {
  static void* const library = [] {
    const char* path = std::getenv("FORWARDING_NRT_TO");
    void* found = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (found == nullptr) {
      std::fprintf(stderr, "forwarding_nrt: FORWARDING_NRT_TO=%s: %s\n",
                   path != nullptr ? path : "", path != nullptr ? dlerror() : "not set");
      std::abort();
    }
    return found;
  }();
  return dlsym(library, kNames[function]);
}

template <Function function, typename Signature>
struct Forward;
template <Function function, typename Result, typename... Arguments>
struct Forward<function, Result(Arguments...)> {
  static Result Call(Arguments... arguments) {
    static const auto target = reinterpret_cast<Result (*)(Arguments...)>(Target(function));
    ++calls[function];
    if (target != nullptr) return target(arguments...);
    if constexpr (std::is_same_v<Result, NRT_STATUS>)
      return NRT_FAILURE;
    else
      return Result();
  }
};

__attribute__((destructor)) void Log() {
  const char* path = std::getenv("FORWARDING_NRT_LOG");
  std::FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  for (size_t i = 0; i < kNumFunctions; ++i)
    if (calls[i] > 0)
      std::fprintf(file, "%s %lld\n", kNames[i], static_cast<long long>(calls[i].load()));
  std::fclose(file);
}

}  // namespace

// Each exported symbol resolves to the template's instance of its own signature, so that no
// signature is repeated here.
#define X(name)                                                                                    \
  extern "C" decltype(&name) Resolve_##name() { return &Forward<k_##name, decltype(name)>::Call; } \
  extern "C" __attribute__((visibility("default"), ifunc("Resolve_" #name))) decltype(name) name;
NEURON_PUBLIC(X)
#undef X
