// Hardware queues: a program, a transfer to the device and one to the host at the same time, each
// from a stream of its own; order inside a stream; full queues; waits that are interrupted.
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "runtime/queue.h"
#include "runtime/support.h"

namespace neuron::runtime {
namespace {

using Clock = std::chrono::steady_clock;
double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

constexpr int64_t kBytes = 1 << 20;

// Transfers of kBytes take 50 ms, smaller ones no time.
class Overlap : public ::testing::Test {
 protected:
  void SetUp() override { SetCopyDelay(50'000); }
  void TearDown() override {
    SetCopyDelay(0);
    SetInterruptCheck(nullptr);
    MustBeOk(SynchronizeDevice(0));
  }
  static void SetCopyDelay(int64_t microseconds) {
    Recording<void(int64_t, uint64_t)>("recording_nrt_set_copy_delay")(microseconds, kBytes);
  }
  static uint64_t Most(const char* what) { return Recording<uint64_t()>(what)(); }
};

TEST_F(Overlap, CopiesOfBothDirectionsRunWhileAProgramExecutes) {
  const StreamId in = *CreateStream(0, 0), out = *CreateStream(0, 0);
  void* x = MustAllocate(0, kBytes, in);
  void* y = MustAllocate(0, kBytes, out);
  std::vector<char> to(kBytes, 3), from(kBytes);
  MustBeOk(Fill(0, out, y, 5, kBytes));
  MustBeOk(SynchronizeStream(0, out));
  auto slow = MakeExecutable(0, {}, 0, "sleep 50000\n");
  const auto start = Clock::now();
  for (int i = 0; i < 3; ++i) {
    MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
    MustBeOk(CopyToDevice(0, in, x, to.data(), kBytes, false));
    MustBeOk(CopyToHost(0, out, from.data(), y, kBytes, false));
  }
  EXPECT_LT(MillisecondsSince(start), 40) << "the host waited";
  MustBeOk(SynchronizeDevice(0));
  const double elapsed = MillisecondsSince(start);
  EXPECT_GE(elapsed, 150);  // each queue by itself
  EXPECT_LT(elapsed, 300);  // 450 one after the other
  EXPECT_EQ(Most("recording_nrt_max_together"), 3u);
  EXPECT_EQ(Most("recording_nrt_max_reads"), 1u);
  EXPECT_EQ(Most("recording_nrt_max_writes"), 1u);
  EXPECT_EQ(Most("recording_nrt_max_concurrent_executions"), 1u);
  EXPECT_EQ(from[kBytes - 1], 5);
  MustBeOk(CopyToHost(0, in, from.data(), x, kBytes, true));
  EXPECT_EQ(from[kBytes - 1], 3);
  Free(x);
  Free(y);
}

TEST_F(Overlap, AStreamAloneKeepsItsOrder) {
  void* x = MustAllocate(0, kBytes);
  auto add = MakeExecutable(0, {{"input0", kBytes}, {"output0", kBytes}}, 1,
                            "add_scalar output0 input0 262144 2\n");
  std::vector<float> host(kBytes / 4, 1.0f), read(kBytes / 4);
  for (int round = 0; round < 3; ++round) {
    MustBeOk(CopyToDevice(0, 0, x, host.data(), kBytes, false));
    for (int i = 0; i < 2; ++i)
      MustBeOk(Enqueue(
          0, 0, {.executable = add, .buffers = {x, x}, .scalars = {0x3f800000}, .op = "add"}));
    MustBeOk(CopyToHost(0, 0, read.data(), x, kBytes, false));
    MustBeOk(SynchronizeStream(0, 0));
    ASSERT_EQ(read.front(), 3.0f);
    ASSERT_EQ(read.back(), 3.0f);
  }
  Free(x);
}

TEST_F(Overlap, AWaitOrdersComputingBehindACopyOfAnotherStream) {
  const StreamId copies = *CreateStream(0, 0), computing = *CreateStream(0, 0);
  void* x = MustAllocate(0, kBytes, copies);
  void* y = MustAllocate(0, 64, computing);
  auto copy = MakeExecutable(0, {{"input0", 16}, {"output0", 16}}, 0, "copy output0 input0 16\n");
  for (int32_t round = 1; round < 4; ++round) {
    const std::vector<int32_t> host(kBytes / 4, round);
    MustBeOk(CopyToDevice(0, copies, x, host.data(), kBytes, false));
    StreamWaitEvent(0, computing, RecordEvent(0, copies, false));
    MustBeOk(Enqueue(0, computing, {.executable = copy, .buffers = {x, y}, .op = "copy"}));
    int32_t read = 0;
    MustBeOk(CopyToHost(0, computing, &read, y, 4, true));
    EXPECT_EQ(read, round);
    StreamWaitEvent(0, copies, RecordEvent(0, computing, false));
  }
  MustBeOk(SynchronizeDevice(0));
  Free(x);
  Free(y);
}

TEST_F(Overlap, ABlockingCopyOfAnIdleStreamDoesNotWaitForAProgram) {
  const StreamId side = *CreateStream(0, 0);
  void* x = MustAllocate(0, 64, side);
  auto slow = MakeExecutable(0, {}, 0, "sleep 200000\n");
  const auto start = Clock::now();
  MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
  int32_t value = 7, read = 0;
  MustBeOk(CopyToDevice(0, side, x, &value, 4, true));
  MustBeOk(CopyToHost(0, side, &read, x, 4, true));
  MustBeOk(SynchronizeEvent(*RecordEvent(0, side, false)));
  EXPECT_EQ(read, 7);
  EXPECT_LT(MillisecondsSince(start), 100);
  Free(x);
}

TEST_F(Overlap, StreamsOfHigherPriorityGoFirstOnAQueueThatBothNeed) {
  const StreamId low = *CreateStream(0, 0), high = *CreateStream(0, -1);
  auto slow = MakeExecutable(0, {}, 0, "sleep 2000\n");
  std::vector<std::string> order;  // launches run one at a time
  SetLaunchObserver(
      [&](int, const char* op, const Executable&, int64_t, int64_t) { order.emplace_back(op); });
  for (int i = 0; i < 5; ++i) MustBeOk(Enqueue(0, low, {.executable = slow, .op = "low"}));
  for (int i = 0; i < 5; ++i) MustBeOk(Enqueue(0, high, {.executable = slow, .op = "high"}));
  MustBeOk(SynchronizeStream(0, low));  // a caller that helps keeps to the order
  MustBeOk(SynchronizeDevice(0));
  SetLaunchObserver(nullptr);
  ASSERT_EQ(order.size(), 10u);
  EXPECT_EQ(order.back(), "low");
  const auto last_high = std::find(order.rbegin(), order.rend(), "high");
  EXPECT_GE(last_high - order.rbegin(), 3) << "low tasks overtook";
}

TEST_F(Overlap, AFullQueueHoldsTheHostBack) {
  auto nap = MakeExecutable(0, {}, 0, "sleep 100\n");
  std::atomic<int> ran{0};
  SetLaunchObserver([&](int, const char*, const Executable&, int64_t, int64_t) { ++ran; });
  constexpr int kLaunches = 2 * Queue::kMaxPending;
  int most = 0;
  for (int i = 0; i < kLaunches; ++i) {
    MustBeOk(Enqueue(0, 0, {.executable = nap, .op = "nap"}));
    most = std::max(most, i + 1 - ran.load());
  }
  MustBeOk(SynchronizeDevice(0));
  SetLaunchObserver(nullptr);
  EXPECT_EQ(ran, kLaunches);
  EXPECT_LE(most, Queue::kMaxPending + 1);  // and one that runs
  EXPECT_GT(most, Queue::kMaxPending / 2);
}

std::atomic<bool> interrupt{false};
std::atomic<int> asked{0};
Status Check() {
  ++asked;
  return interrupt.exchange(false) ? Unavailable("interrupted here") : OkStatus();
}

TEST_F(Overlap, AnInterruptedSynchronisationLeavesTheDeviceUsable) {
  auto slow = MakeExecutable(0, {}, 0, "sleep 400000\n");
  SetInterruptCheck(&Check);
  interrupt = true;
  const auto start = Clock::now();
  // Two: a caller that waits may run the first one itself.
  MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
  std::shared_ptr<Event> event = RecordEvent(0, 0, false);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the worker is at it
  EXPECT_EQ(SynchronizeStream(0, 0).message(), "interrupted here");
  interrupt = true;
  EXPECT_EQ(SynchronizeEvent(*event).message(), "interrupted here");
  interrupt = true;
  EXPECT_EQ(SynchronizeDevice(0).message(), "interrupted here");
  EXPECT_LT(MillisecondsSince(start), 350);
  EXPECT_FALSE(QueryStream(0, 0));
  MustBeOk(SynchronizeStream(0, 0));  // nobody interrupts now
  EXPECT_TRUE(QueryEvent(*event));
  EXPECT_GE(MillisecondsSince(start), 400);
}

TEST_F(Overlap, AnInterruptedBlockingCopyDoesNotTouchItsMemoryAnyMore) {
  auto slow = MakeExecutable(0, {}, 0, "sleep 300000\n");
  void* x = MustAllocate(0, kBytes);
  MustBeOk(Fill(0, 0, x, 9, kBytes));
  MustBeOk(SynchronizeStream(0, 0));
  SetInterruptCheck(&Check);
  for (const bool to_host : {true, false}) {
    MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    interrupt = true;
    auto host = std::make_unique<std::vector<char>>(kBytes, 1);
    const Status status = to_host ? CopyToHost(0, 0, host->data(), x, kBytes, true)
                                  : CopyToDevice(0, 0, x, host->data(), kBytes, true);
    EXPECT_EQ(status.message(), "interrupted here");
    EXPECT_EQ(host->back(), 1);
    host.reset();  // the address sanitizer sees a late access
    MustBeOk(SynchronizeStream(0, 0));
  }
  std::vector<char> read(kBytes);
  MustBeOk(CopyToHost(0, 0, read.data(), x, kBytes, true));
  EXPECT_EQ(read.back(), 9) << "the copy that was given up ran";
  Free(x);
}

TEST_F(Overlap, ALaunchIntoAFullQueueCanBeInterrupted) {
  auto slow = MakeExecutable(0, {}, 0, "sleep 300000\n");
  auto nap = MakeExecutable(0, {}, 0, "");
  std::atomic<int> ran{0};
  MustBeOk(Enqueue(0, 0, {.executable = slow, .op = "slow"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  SetLaunchObserver([&](int, const char* op, const Executable&, int64_t, int64_t) {
    if (std::string(op) == "nap") ++ran;
  });
  for (int i = 0; i < Queue::kMaxPending; ++i)
    MustBeOk(Enqueue(0, 0, {.executable = nap, .op = "nap"}));
  SetInterruptCheck(&Check);
  interrupt = true;
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> watch = token;
  EXPECT_EQ(
      Enqueue(0, 0, {.executable = nap, .op = "nap", .keep_alive = {std::move(token)}}).message(),
      "interrupted here");
  EXPECT_TRUE(watch.expired());
  // A point of an event has its place all the same.
  MustBeOk(SynchronizeEvent(*RecordEvent(0, 0, false)));
  SetLaunchObserver(nullptr);
  EXPECT_EQ(ran, Queue::kMaxPending);
}

// Random tasks of many streams and threads against what order requires: each stream's counter has
// counted its own launches at every read.
TEST_F(Overlap, ManyStreamsFromManyThreads) {
  SetCopyDelay(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const StreamId stream = *CreateStream(0, t % 2 == 0 ? 0 : -1);
      void* x = MustAllocate(0, kBytes, stream);
      auto add = MakeExecutable(0, {{"input0", kBytes}, {"output0", kBytes}}, 1,
                                "add_scalar output0 input0 16 2\n");
      std::vector<float> zeros(kBytes / 4), read(kBytes / 4);
      for (int round = 0; round < 40; ++round) {
        MustBeOk(CopyToDevice(0, stream, x, zeros.data(), kBytes, (round + t) % 3 == 0));
        const int launches = round % 5;
        for (int i = 0; i < launches; ++i)
          MustBeOk(
              Enqueue(0, stream,
                      {.executable = add, .buffers = {x, x}, .scalars = {0x3f800000}, .op = "a"}));
        if (round % 4 == 0) StreamWaitEvent(0, stream, RecordEvent(0, (stream + 1) % 3, false));
        MustBeOk(CopyToHost(0, stream, read.data(), x, kBytes, round % 2 == 0));
        if (round % 2 == 1) MustBeOk(SynchronizeStream(0, stream));
        ASSERT_EQ(read[15], static_cast<float>(launches));
        ASSERT_EQ(read[16], 0.0f);
      }
      Free(x);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace neuron::runtime
