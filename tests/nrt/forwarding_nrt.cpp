// An NRT library that offers the public functions only and passes each call on to another library
// (FORWARDING_NRT_TO, our emulator), counting it. Through it the whole stack runs on the emulator
// without being able to see any extension: what works here needs nothing but NRT.
//
// FORWARDING_NRT_LOG names a file that gets "name count" per function called, at exit. The stubs
// are jumps, so that no signature is repeated here; hence x86-64 only.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "nrt/functions.h"

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

HIDDEN int forwarding_nrt_missing() { return 1; }  // NRT_FAILURE

#define NEURON_FORWARD(name)                                                                     \
  HIDDEN uint64_t calls_##name;                                                                  \
  HIDDEN void* target_##name;                                                                    \
  uint64_t calls_##name = 0;                                                                     \
  void* target_##name = reinterpret_cast<void*>(&forwarding_nrt_missing);                        \
  asm(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n\tlock incq calls_" #name \
      "(%rip)\n\tjmp *target_" #name                                                             \
      "(%rip)\n"                                                                                 \
      ".size " #name ", .-" #name "\n");
NEURON_NRT_MANDATORY(NEURON_FORWARD)
NEURON_NRT_OPTIONAL(NEURON_FORWARD)
#undef NEURON_FORWARD

namespace {

__attribute__((constructor)) void Open() {
  const char* path = std::getenv("FORWARDING_NRT_TO");
  void* library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) {
    std::fprintf(stderr, "forwarding_nrt: FORWARDING_NRT_TO=%s: %s\n", path ? path : "",
                 path ? dlerror() : "not set");
    std::abort();
  }
#define NEURON_TARGET(name) \
  if (void* found = dlsym(library, #name)) target_##name = found;
  NEURON_NRT_MANDATORY(NEURON_TARGET)
  NEURON_NRT_OPTIONAL(NEURON_TARGET)
#undef NEURON_TARGET
}

__attribute__((destructor)) void Log() {
  const char* path = std::getenv("FORWARDING_NRT_LOG");
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
#define NEURON_LOG(name) \
  if (calls_##name > 0)  \
    std::fprintf(file, #name " %llu\n", static_cast<unsigned long long>(calls_##name));
  NEURON_NRT_MANDATORY(NEURON_LOG)
  NEURON_NRT_OPTIONAL(NEURON_LOG)
#undef NEURON_LOG
  std::fclose(file);
}

}  // namespace
