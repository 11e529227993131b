// What the runtime itself costs the host: allocation, launches, copies; one JSON line per case.
//
//   ninja runtime_bench && TORCHNEURON_NRT_LIBRARY=.../libnrt_emulator.so.1 ./runtime_bench
//
// "ref" is what the same work costs without the runtime: malloc and free, or nrt_execute on sets
// that are bound already. Both are measured in turn (ours, ref, ref, ours), best of many.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/loaded_executable.h"
#include "runtime/modules.h"
#include "runtime/process.h"

namespace neuron::runtime {
namespace {

double NsPerCall(const std::function<void()>& body, int calls) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
             .count() /
         calls;
}

void Compare(const std::string& name, const std::string& against, int calls,
             const std::function<void()>& ours, const std::function<void()>& ref) {
  double best_ours = 1e18, best_ref = 1e18;
  for (int repeat = 0; repeat < 20; ++repeat) {
    best_ours = std::min(best_ours, NsPerCall(ours, calls));
    if (ref) {
      best_ref = std::min(best_ref, NsPerCall(ref, calls));
      best_ref = std::min(best_ref, NsPerCall(ref, calls));
    }
    best_ours = std::min(best_ours, NsPerCall(ours, calls));
  }
  std::printf("{\"bench\": \"runtime\", \"case\": \"%s\", \"unit\": \"ns/call\", \"ours\": %.1f",
              name.c_str(), best_ours);
  if (ref)
    std::printf(", \"ref\": %.1f, \"against\": \"%s\", \"difference\": %.1f", best_ref,
                against.c_str(), best_ours - best_ref);
  std::printf("}\n");
  std::fflush(stdout);
}

void Must(const Status& status) { NEURON_CHECK(status.ok(), "failed: ", status.ToString()); }

void Allocation() {
  constexpr int kCalls = 10000;
  for (const int64_t bytes : {int64_t{512}, int64_t{100} << 10, int64_t{4} << 20}) {
    Compare(
        StrCat("allocate and free ", bytes, " bytes"), "malloc and free", kCalls,
        [&] {
          for (int i = 0; i < kCalls; ++i) Free(*Allocate(0, bytes, 0));
        },
        [&] {
          for (int i = 0; i < kCalls; ++i) {
            void* pointer = std::malloc(static_cast<size_t>(bytes));
            asm volatile("" : : "r"(pointer) : "memory");
            std::free(pointer);
          }
        });
  }
  // A training step's pattern: many live blocks, freed in another order.
  constexpr int kLive = 1000;
  std::vector<void*> live(kLive);
  Compare(
      "allocate 1000 of mixed sizes, free in stride", "", 2 * kLive,
      [&] {
        for (size_t i = 0; i < kLive; ++i)
          live[i] = *Allocate(0, static_cast<int64_t>(64 + (i * 7919) % 300000), 0);
        for (size_t i = 0; i < kLive; ++i) Free(live[i * 7 % kLive]);
      },
      nullptr);
}

void Launches() {
  constexpr int kCalls = 2000;
  const auto executable = *GetExecutable(0, AddTwo(16), {}, "add");
  auto& loaded = static_cast<LoadedExecutable&>(*executable);
  void* x = *Allocate(0, 64, 0);
  void* y = *Allocate(0, 64, 0);
  void* z = *Allocate(0, 64, 0);
  const Device& device = **GetDevice(0);
  const auto launch = [&](bool synchronize) {
    for (int i = 0; i < kCalls; ++i) {
      Must(Enqueue(0, 0, {.executable = executable, .buffers = {x, y, z}, .op = "add"}));
      if (synchronize) Must(SynchronizeStream(0, 0));
    }
    Must(SynchronizeStream(0, 0));
  };
  launch(true);
  Compare(
      "launch add f32[16] inline", "nrt_execute on bound sets", kCalls, [&] { launch(false); },
      [&] {
        const std::vector<void*> buffers = {x, y, z};
        const Bindings::Sets sets = *loaded.bindings().Bind(buffers, {});
        for (int i = 0; i < kCalls; ++i)
          device.nrt().nrt_execute(loaded.model(), sets.inputs, sets.outputs);
      });
  Compare(
      "bind add f32[16]", "", kCalls,
      [&] {
        const std::vector<void*> buffers = {x, y, z};
        for (int i = 0; i < kCalls; ++i) (void)*loaded.bindings().Bind(buffers, {});
      },
      nullptr);
  Compare(
      "record event on an idle stream", "", kCalls,
      [&] {
        for (int i = 0; i < kCalls; ++i) (void)RecordEvent(0, 0, false);
      },
      nullptr);
  float host = 0;
  Compare(
      "copy 4 bytes to the host, blocking", "", kCalls,
      [&] {
        for (int i = 0; i < kCalls; ++i) Must(CopyToHost(0, 0, &host, z, 4, true));
      },
      nullptr);
  // A large program first, so that the queue is never empty: the cost of appending.
  const auto large = *GetExecutable(0, AddTwo(int64_t{8} << 20), {}, "add");
  void* big = *Allocate(0, int64_t{32} << 20, 0);
  double best = 1e18;
  for (int repeat = 0; repeat < 10; ++repeat) {
    Must(Enqueue(0, 0, {.executable = large, .buffers = {big, big, big}, .op = "large"}));
    best = std::min(
        best,
        NsPerCall(
            [&] {
              for (int i = 0; i < 500; ++i)
                Must(Enqueue(0, 0, {.executable = executable, .buffers = {x, y, z}, .op = "add"}));
            },
            500));
    Must(SynchronizeDevice(0));
  }
  std::printf(
      "{\"bench\": \"runtime\", \"case\": \"append to a busy queue\", \"unit\": "
      "\"ns/call\", \"ours\": %.1f}\n",
      best);
}

}  // namespace
}  // namespace neuron::runtime

int main() {
  using namespace neuron::runtime;  // NOLINT(google-build-using-namespace): a program's entry
  Must(Initialize());
  Allocation();
  Launches();
}
