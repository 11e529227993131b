// Host threads that share the work of one instruction.
//
// As many as the process may run on (affinity), or nrt_emulator_set_num_threads. A round trip to
// another thread costs some microseconds: callers split only what takes longer than kWorthwhileNs.
// Workers wait for the next piece for a bounded time before they sleep.
#pragma once

#include <cstdint>

namespace neuron::emulator {

inline constexpr double kWorthwhileNs = 50'000;

int HostThreads();
void SetHostThreads(int threads);  // 0: as many as the affinity allows

// Of the calling thread: 0 where it is no worker, else from 1 on.
int WorkerNumber();

namespace internal {
bool InParts();  // the thread does a part of something already
using PartFn = void (*)(const void* body, int part, int parts);
// Calls fn(body, part, parts) for every part, on this thread and threads - 1 workers; returns when
// all are done.
void RunParts(int threads, int parts, PartFn fn, const void* body);
}  // namespace internal

// Calls body(first, last) on ranges that together are [0, n): a few per thread if the whole takes
// at least kWorthwhileNs, each a multiple of `grain` but the last.
template <typename Body>
void ParallelFor(int64_t n, int64_t grain, double estimated_ns, const Body& body) {
  const int threads = estimated_ns < kWorthwhileNs || internal::InParts() ? 1 : HostThreads();
  if (threads <= 1 || n < 2 * grain) {
    body(int64_t{0}, n);
    return;
  }
  struct Work {
    const Body& body;
    int64_t n, grain;
  };
  const Work work{body, n, grain};
  constexpr int kPartsPerThread = 4;
  const auto units = static_cast<int>(n / grain < 4096 ? (n + grain - 1) / grain : 4096);
  internal::RunParts(
      threads, units < kPartsPerThread * threads ? units : kPartsPerThread * threads,
      [](const void* opaque, int part, int parts) {
        const auto& w = *static_cast<const Work*>(opaque);
        const int64_t units = (w.n + w.grain - 1) / w.grain;
        const int64_t first = units * part / parts * w.grain;
        const int64_t last = part + 1 == parts ? w.n : units * (part + 1) / parts * w.grain;
        if (first < last) w.body(first, last < w.n ? last : w.n);
      },
      &work);
}

}  // namespace neuron::emulator
