#include "emulator/parallel.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace neuron::emulator {
namespace {

constexpr int kMaxThreads = 64;
constexpr auto kSpin = std::chrono::microseconds(30);  // about two condition-variable round trips

std::atomic<int> configured_threads{0};
thread_local int worker_number = 0;
thread_local bool in_parts = false;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// One job at a time, cut in parts that the caller and the workers claim one by one: where a worker
// gets no processor, the caller does it all.
class Pool {
 public:
  // False if another thread uses the pool, or the process has forked since (its workers are gone).
  bool Run(int threads, int parts, internal::PartFn fn, const void* body) {
    const std::unique_lock use(use_, std::try_to_lock);
    if (!use.owns_lock() || getpid() != pid_) return false;
    Grow(threads - 1);
    done_.store(0, std::memory_order_relaxed);
    uint32_t job;
    {
      const std::lock_guard lock(mutex_);
      job = ++job_;
      work_ = {fn, body, parts};
      next_.store(uint64_t{job} << 32, std::memory_order_relaxed);
      posted_.store(job, std::memory_order_release);
    }
    wake_.notify_all();
    Claim(job, work_);
    for (int spins = 0; done_.load(std::memory_order_acquire) != parts; ++spins) {
      // A part that takes this long has lost its processor: leave it ours.
      if (spins < 2000) {
        Pause();
      } else {
        std::this_thread::yield();
      }
    }
    return true;
  }

 private:
  struct Work {
    internal::PartFn fn = nullptr;
    const void* body = nullptr;
    int parts = 0;
  };

  void Grow(int workers) {
    while (static_cast<int>(workers_.size()) < workers) {
      const int number = static_cast<int>(workers_.size()) + 1;
      workers_.emplace_back([this, number, seen = posted_.load()] {
        worker_number = number;
        Serve(seen);
      });
      workers_.back().detach();  // lives as long as the process
    }
  }

  // Does parts of `job` until none is left. The upper half of next_ is the job's number, so that a
  // late worker cannot take a part of a later job for one of its own.
  void Claim(uint32_t job, const Work& work) {
    uint64_t next = next_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(next >> 32) == job) {
      const int part = static_cast<int>(static_cast<uint32_t>(next));
      if (part >= work.parts) return;
      if (!next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) continue;
      in_parts = true;
      work.fn(work.body, part, work.parts);
      in_parts = false;
      done_.fetch_add(1, std::memory_order_release);
      next = next_.load(std::memory_order_acquire);
    }
  }

  void Serve(uint32_t seen) {
    while (true) {
      const auto until = std::chrono::steady_clock::now() + kSpin;
      while (posted_.load(std::memory_order_acquire) == seen &&
             std::chrono::steady_clock::now() < until)
        Pause();
      Work work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return job_ != seen; });
        seen = job_;
        work = work_;
      }
      Claim(seen, work);
    }
  }

  const pid_t pid_ = getpid();
  std::mutex use_, mutex_;
  std::condition_variable wake_;
  uint32_t job_ = 0;  // with work_ under mutex_
  Work work_;
  std::atomic<uint32_t> posted_{0};
  std::atomic<uint64_t> next_{0};
  std::atomic<int> done_{0};
  std::vector<std::thread> workers_;
};

Pool& ThePool() {
  static Pool* const pool = new Pool;  // never destroyed: workers may be in it
  return *pool;
}

}  // namespace

int HostThreads() {
  const int configured = configured_threads.load(std::memory_order_relaxed);
  if (configured > 0) return configured;
  static const int allowed = [] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
  }();
  return allowed;
}

void SetHostThreads(int threads) { configured_threads = std::clamp(threads, 0, kMaxThreads); }

int WorkerNumber() { return worker_number; }
bool internal::InParts() { return in_parts; }

void internal::RunParts(int threads, int parts, PartFn fn, const void* body) {
  if (ThePool().Run(threads, parts, fn, body)) return;
  for (int part = 0; part < parts; ++part) fn(body, part, parts);
}

}  // namespace neuron::emulator
