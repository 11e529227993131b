#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/support.h"

namespace neuron::runtime {
namespace {

using Clock = std::chrono::steady_clock;
double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

TEST(Streams, EnqueueDoesNotWaitForTheDevice) {
  auto slow = MakeExecutable(0, {}, 0, "sleep 20000\n");
  const auto start = Clock::now();
  for (int i = 0; i < 5; ++i) MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
  EXPECT_LT(MillisecondsSince(start), 20);
  EXPECT_FALSE(QueryStream(0, 0));
  MustBeOk(SynchronizeStream(0, 0));
  EXPECT_GE(MillisecondsSince(start), 100);
  EXPECT_TRUE(QueryStream(0, 0));
}

TEST(Streams, TasksOfAStreamRunInOrderWithCopies) {
  void* x = MustAllocate(0, 64);
  auto slow = MakeExecutable(0, {{"input0", 64}, {"output0", 64}}, 1,
                             "sleep 100\nadd_scalar output0 input0 1 2\n");
  float value = 0;
  MustBeOk(CopyToDevice(0, 0, x, &value, 4, false));
  value = -1;  // a small transfer is copied aside at once
  for (int i = 0; i < 100; ++i)
    MustBeOk(Enqueue(
        0, 0, {.executable = slow, .buffers = {x, x}, .scalars = {0x3f800000}, .op = "add"}));
  float read = -1;
  MustBeOk(CopyToHost(0, 0, &read, x, 4, false));
  MustBeOk(SynchronizeStream(0, 0));
  EXPECT_EQ(read, 100.0f);
  Free(x);
}

TEST(Streams, AStreamWaitsForAnEventOfAnother) {
  const StreamId first = *CreateStream(0, 0), second = *CreateStream(0, 0);
  void* x = MustAllocate(0, 64, first);
  auto slow_write = MakeExecutable(0, {{"output0", 16}}, 0, "sleep 20000\nwords output0 1 2 3 4\n");
  auto copy = MakeExecutable(0, {{"input0", 16}, {"output0", 16}}, 0, "copy output0 input0 16\n");
  void* y = MustAllocate(0, 64, second);
  MustBeOk(Fill(0, first, x, 0, 64));
  MustBeOk(Enqueue(0, first, {.executable = slow_write, .buffers = {x}, .op = "write"}));
  std::shared_ptr<Event> event = RecordEvent(0, first, false);
  EXPECT_FALSE(QueryEvent(*event));
  StreamWaitEvent(0, second, event);
  MustBeOk(Enqueue(0, second, {.executable = copy, .buffers = {x, y}, .op = "copy"}));
  int32_t host[4] = {};
  MustBeOk(CopyToHost(0, second, host, y, 16, true));
  EXPECT_EQ(host[3], 4);
  EXPECT_TRUE(QueryEvent(*event));
  Free(x);
  Free(y);
}

TEST(Streams, AnEventOfAnotherDevice) {
  auto slow = MakeExecutable(1, {}, 0, "sleep 20000\n");
  MustBeOk(Enqueue(1, 0, {.executable = slow, .op = "slow"}));
  std::shared_ptr<Event> event = RecordEvent(1, 0, false);
  StreamWaitEvent(0, 0, event);
  std::shared_ptr<Event> after = RecordEvent(0, 0, false);
  EXPECT_FALSE(QueryEvent(*after));
  MustBeOk(SynchronizeEvent(*after));
  EXPECT_TRUE(QueryEvent(*event));
}

TEST(Streams, ElapsedTimeNeedsTimingAndCompletion) {
  auto slow = MakeExecutable(0, {}, 0, "sleep 5000\n");
  std::shared_ptr<Event> begin = RecordEvent(0, 0, true);
  MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
  std::shared_ptr<Event> end = RecordEvent(0, 0, true);
  std::shared_ptr<Event> untimed = RecordEvent(0, 0, false);
  EXPECT_TRUE(IsFailedPrecondition(ElapsedMilliseconds(*begin, *end).status()));
  MustBeOk(SynchronizeDevice(0));
  const StatusOr<double> elapsed = ElapsedMilliseconds(*begin, *end);
  ASSERT_TRUE(elapsed.ok());
  EXPECT_GE(*elapsed, 5.0);
  EXPECT_NE(ElapsedMilliseconds(*begin, *untimed).status().message().find("enable_timing"),
            std::string::npos);
}

TEST(Streams, UnknownStreamsAndDevicesAreNamed) {
  EXPECT_EQ(SynchronizeStream(0, 4711).message(), "neuron:0 has no stream 4711");
  EXPECT_NE(SynchronizeDevice(17).message().find("neuron:17 does not exist"), std::string::npos);
}

TEST(Streams, TinyProgramsRunInlineOnceKnown) {
  auto tiny = MakeExecutable(0, {}, 0, "");
  for (int i = 0; i < 50; ++i) {
    MustBeOk(Enqueue(0, 0, {.executable = tiny, .op = "tiny"}));
    MustBeOk(SynchronizeStream(0, 0));
  }
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<bool> inline_seen{false};
  SetLaunchObserver([&](int, const char* op, const Executable&, int64_t, int64_t) {
    EXPECT_STREQ(op, "tiny");
    if (std::this_thread::get_id() == here) inline_seen = true;
  });
  // The time of a launch is what makes it tiny: one that a busy host interrupted is forgotten in
  // some fifteen others.
  for (int i = 0; i < 5000 && !inline_seen; ++i) {
    MustBeOk(Enqueue(0, 0, {.executable = tiny, .op = "tiny"}));
    if (i % 50 == 49) MustBeOk(SynchronizeStream(0, 0));
  }
  MustBeOk(SynchronizeStream(0, 0));
  SetLaunchObserver(nullptr);
  EXPECT_TRUE(inline_seen);
}

TEST(Streams, ACallerThatWaitsRunsWhatIsQueued) {
  auto slow = MakeExecutable(0, {}, 0, "sleep 300\n");  // no tiny program
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> ran{0}, ran_here{0};
  SetLaunchObserver([&](int, const char*, const Executable&, int64_t, int64_t) {
    ++ran;
    if (std::this_thread::get_id() == here) ++ran_here;
  });
  constexpr int kRounds = 40, kLaunches = 3;
  for (int i = 0; i < kRounds; ++i) {
    for (int j = 0; j < kLaunches; ++j) MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
    MustBeOk(SynchronizeStream(0, 0));
    EXPECT_EQ(ran, (i + 1) * kLaunches);
  }
  SetLaunchObserver(nullptr);
  EXPECT_GT(ran_here, 0);
}

TEST(Streams, WhatALaunchKeepsAliveIsReleasedWhenItHasRun) {
  auto slow = MakeExecutable(0, {}, 0, "sleep 10000\n");
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> watch = token;
  MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow", .keep_alive = {std::move(token)}}));
  EXPECT_FALSE(watch.expired());
  MustBeOk(SynchronizeStream(0, 0));
  EXPECT_TRUE(watch.expired());
}

TEST(Streams, OneExecutionAtATimePerCoreFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      const StreamId stream = *CreateStream(0, 0);
      auto program = MakeExecutable(0, {{"output0", 4000}}, 0, "iota output0 1000\n");
      for (int i = 0; i < 200; ++i) {
        void* x = MustAllocate(0, 4000, stream);
        MustBeOk(Enqueue(0, stream, {.executable = program, .buffers = {x}, .op = "iota"}));
        if (i % 10 == 0) {
          std::vector<int32_t> host(1000);
          MustBeOk(CopyToHost(0, stream, host.data(), x, 4000, true));
          EXPECT_EQ(host[999], 999);
        }
        Free(x);
      }
      MustBeOk(SynchronizeStream(0, stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Recording<uint64_t()>("recording_nrt_max_concurrent_executions")(), 1u);
}

TEST(Streams, AFullQueueBoundsTheHost) {
  auto nap = MakeExecutable(0, {}, 0, "sleep 0\n");
  for (int i = 0; i < 2 * Queue::kMaxPending; ++i)
    MustBeOk(Enqueue(0, 0, {.executable = nap, .op = "nap"}));
  MustBeOk(SynchronizeDevice(0));
}

}  // namespace
}  // namespace neuron::runtime
