// What training and decoding ask of the allocator, over and over: little is reserved beyond what
// lives, and nothing grows.
#include <random>

#include "runtime/support.h"

namespace neuron::runtime {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

class AllocatorReplayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    MustBeOk(Initialize());
    Recording<void(uint64_t)>("recording_nrt_set_memory_limit")(uint64_t{8} << 30);
    EmptyCache(0);
    ResetPeakStatistics(0);
  }
  void TearDown() override {
    EmptyCache(0);
    Recording<void(uint64_t)>("recording_nrt_set_memory_limit")(uint64_t{1} << 30);
  }
};

// One step of a model of `layers` layers: activations are kept forward and freed backward, where
// gradients take their place; logits come and go at the top.
void TrainingStep(int layers, int64_t tokens, int64_t width, std::vector<void*>& gradients) {
  std::vector<void*> kept;
  const auto activation = [&](int64_t columns) { return MustAllocate(0, tokens * columns * 4); };
  for (int layer = 0; layer < layers; ++layer) {
    for (const int64_t columns : {width, 3 * width, width, width, 4 * width, 4 * width})
      kept.push_back(activation(columns));
    Free(activation(width));
    kept.push_back(MustAllocate(0, tokens * 8));  // statistics of the norms
  }
  kept.push_back(activation(4096));
  Free(activation(4096));
  void* passed = activation(width);
  for (void* pointer : gradients) Free(pointer);  // zero_grad(set_to_none=True)
  gradients.clear();
  for (int layer = layers; layer-- > 0;) {
    for (int i = 0; i < 7; ++i) {
      void* next = activation(i % 2 == 0 ? width : 4 * width);
      Free(passed);
      passed = next;
      Free(kept.back());
      kept.pop_back();
    }
    for (const int64_t rows : {int64_t{3}, int64_t{1}, int64_t{4}, int64_t{4}})
      gradients.push_back(MustAllocate(0, rows * width * width * 4));
  }
  Free(passed);
  for (void* pointer : kept) Free(pointer);
}

TEST_F(AllocatorReplayTest, TrainingReservesAtMost15PercentMoreThanLives) {
  std::vector<void*> gradients, parameters;
  constexpr int64_t kWidth = 384;
  for (int i = 0; i < 6 * 3; ++i)  // weights and both moments
    for (const int64_t rows : {int64_t{3}, int64_t{1}, int64_t{4}, int64_t{4}})
      parameters.push_back(MustAllocate(0, rows * kWidth * kWidth * 4));
  std::mt19937 random(0);
  for (int step = 0; step < 40; ++step)
    TrainingStep(6, 1024 - 64 * static_cast<int64_t>(random() % 4), kWidth, gradients);
  const MemoryStatistics now = Statistics(0);
  const double ratio =
      static_cast<double>(now.peak_reserved_bytes) / static_cast<double>(now.peak_allocated_bytes);
  RecordProperty("peak_allocated_mib", std::to_string(now.peak_allocated_bytes / kMiB));
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_LE(ratio, 1.15) << now.peak_allocated_bytes / kMiB << " MiB lived, "
                         << now.peak_reserved_bytes / kMiB << " were reserved";
  for (void* pointer : gradients) Free(pointer);
  for (void* pointer : parameters) Free(pointer);
  EXPECT_EQ(Statistics(0).active_blocks, 0);
}

TEST_F(AllocatorReplayTest, AMillionAllocationsDoNotGrow) {
  MemoryStatistics first;
  for (int round = 0; round < 10; ++round) {
    std::mt19937 random(1);
    std::vector<void*> held(64, nullptr);
    for (int i = 0; i < 100'000; ++i) {
      void*& place = held[random() % held.size()];
      Free(place);
      // From scalars to tiles, rarely the same size twice.
      const int64_t size = int64_t{1} << (random() % 20);
      place = MustAllocate(0, size + static_cast<int64_t>(random() % static_cast<uint32_t>(size)));
    }
    for (void* pointer : held) Free(pointer);
    if (round == 0) first = Statistics(0);
  }
  const MemoryStatistics last = Statistics(0);
  EXPECT_GE(last.allocations, 1'000'000);
  EXPECT_EQ(last.active_blocks, 0);
  EXPECT_EQ(last.segments, first.segments);
  EXPECT_EQ(last.reserved_bytes, first.reserved_bytes);
}

}  // namespace
}  // namespace neuron::runtime
