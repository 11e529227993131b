#include "runtime/allocator.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "runtime/support.h"

namespace neuron::runtime {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

class AllocatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    MustBeOk(Initialize());
    EmptyCache(0);
    ResetPeakStatistics(0);
    limit_(uint64_t{1} << 30);
  }
  void TearDown() override { limit_(uint64_t{1} << 30); }
  void (*limit_)(uint64_t) = Recording<void(uint64_t)>("recording_nrt_set_memory_limit");
};

TEST_F(AllocatorTest, AlignedDistinctAndFoundByAddress) {
  void* a = MustAllocate(0, 1);
  void* b = MustAllocate(0, 65);
  void* c = MustAllocate(1, 3 * kMiB);
  for (void* pointer : {a, b, c}) EXPECT_EQ(reinterpret_cast<uintptr_t>(pointer) % 64, 0u);
  EXPECT_NE(a, b);
  EXPECT_EQ(DeviceOf(a), 0);
  EXPECT_EQ(DeviceOf(static_cast<char*>(c) + 2 * kMiB), 1);
  EXPECT_EQ(DeviceOf(&a), -1);
  for (void* pointer : {a, b, c}) Free(pointer);
}

TEST_F(AllocatorTest, NothingForZeroBytes) {
  EXPECT_EQ(MustAllocate(0, 0), nullptr);
  Free(nullptr);
}

TEST_F(AllocatorTest, AFreedBlockIsReusedWithoutCallingNrt) {
  void* a = MustAllocate(0, 1000);
  Free(a);
  ClearCalls();
  EXPECT_EQ(MustAllocate(0, 1000), a);
  EXPECT_EQ(Calls(), "");
  Free(a);
}

TEST_F(AllocatorTest, StatisticsFollow) {
  const MemoryStatistics before = Statistics(0);
  void* a = MustAllocate(0, 100);
  void* b = MustAllocate(0, 5 * kMiB);
  MemoryStatistics now = Statistics(0);
  EXPECT_EQ(now.allocated_bytes - before.allocated_bytes, 128 + 5 * kMiB);
  EXPECT_EQ(now.active_blocks - before.active_blocks, 2);
  EXPECT_EQ(now.segments, 2);
  EXPECT_GE(now.reserved_bytes, now.allocated_bytes);
  Free(a);
  Free(b);
  now = Statistics(0);
  EXPECT_EQ(now.allocated_bytes, before.allocated_bytes);
  EXPECT_EQ(now.peak_allocated_bytes, before.allocated_bytes + 128 + 5 * kMiB);
  EmptyCache(0);
  EXPECT_EQ(Statistics(0).reserved_bytes, 0);
  EXPECT_EQ(DeviceOf(b), -1);
}

TEST_F(AllocatorTest, OutOfMemorySaysTheNumbersAndTheDeviceGoesOn) {
  limit_(64 * kMiB);
  void* a = MustAllocate(0, 20 * kMiB);
  const StatusOr<void*> b = Allocate(0, 60 * kMiB, 0);
  ASSERT_TRUE(IsResourceExhausted(b.status())) << b.status().ToString();
  for (const char* part : {"Tried to allocate 60.00 MiB", "neuron:0", "1.00 GiB of HBM",
                           "20.00 MiB is in use", "reserved", "free"})
    EXPECT_NE(b.status().message().find(part), std::string::npos)
        << part << ": " << b.status().message();
  EXPECT_EQ(Statistics(0).out_of_memory, 1);
  Free(a);
  void* c = MustAllocate(0, 60 * kMiB);  // gives the 20 MiB back first
  EXPECT_GE(Statistics(0).retries, 1);
  Free(c);
}

TEST_F(AllocatorTest, ABlockOtherStreamsUsedWaitsForThem) {
  StatusOr<StreamId> side = CreateStream(0, 0);
  ASSERT_TRUE(side.ok());
  auto sleep = MakeExecutable(0, {{"input0", 64}}, 0, "sleep 30000\n");
  void* a = MustAllocate(0, 64);
  MustBeOk(Enqueue(0, *side, {.executable = sleep, .buffers = {a}, .op = "sleep"}));
  RecordStream(a, *side);
  Free(a);
  void* b = MustAllocate(0, 64);
  EXPECT_NE(a, b);
  MustBeOk(SynchronizeStream(0, *side));
  void* c = MustAllocate(0, 64);
  EXPECT_EQ(a, c);
  Free(b);
  Free(c);
}

TEST_F(AllocatorTest, PoolsAreOfStreams) {
  StatusOr<StreamId> side = CreateStream(0, 0);
  void* a = MustAllocate(0, 64, 0);
  Free(a);
  void* b = MustAllocate(0, 64, *side);
  EXPECT_NE(a, b);
  Free(b);
}

TEST_F(AllocatorTest, SnapshotListsSegmentsAndBlocks) {
  void* a = MustAllocate(0, 100);
  const std::string json = MemorySnapshotJson(0);
  EXPECT_NE(json.find("\"segment_type\":\"small\""), std::string::npos);
  EXPECT_NE(json.find("\"requested_size\":100,\"state\":\"active_allocated\""), std::string::npos);
  EXPECT_NE(json.find("\"state\":\"inactive\""), std::string::npos);
  Free(a);
}

TEST_F(AllocatorTest, EmptyingNeverTakesMemoryFromUnderALaunch) {
  const StreamId stream = *CreateStream(0, 0);
  auto program = MakeExecutable(0, {{"output0", 64}}, 0, "sleep 20\niota output0 16\n");
  std::atomic<bool> stop{false};
  std::thread emptying([&] {
    while (!stop) EmptyCache(0);
  });
  for (int i = 0; i < 1000; ++i) {
    void* x = MustAllocate(0, 64, stream);
    MustBeOk(Enqueue(0, stream, {.executable = program, .buffers = {x}, .op = "iota"}));
    Free(x);
  }
  MustBeOk(SynchronizeStream(0, stream));
  stop = true;
  emptying.join();
}

TEST_F(AllocatorTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      std::vector<void*> held;
      for (int i = 0; i < 3000; ++i) {
        if (held.size() > 50 || (!held.empty() && random() % 2)) {
          EXPECT_EQ(DeviceOf(held.back()), t % 2);
          Free(held.back());
          held.pop_back();
        } else {
          held.push_back(MustAllocate(t % 2, 1 + static_cast<int64_t>(random() % (256 << 10))));
        }
        if (i % 1000 == 0) EmptyCache(t % 2);
      }
      for (void* pointer : held) Free(pointer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EmptyCache(0);
  EmptyCache(1);
  EXPECT_EQ(Statistics(0).reserved_bytes, 0);
  EXPECT_EQ(Statistics(1).reserved_bytes, 0);
}

}  // namespace
}  // namespace neuron::runtime
