#include "runtime/block_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace neuron::runtime {
namespace {

class BlockPoolTest : public ::testing::Test {
 protected:
  BlockPoolTest() : pool_(store_) {
    segment_.base = 0x10000;
    segment_.bytes = 1 << 20;
    Block* block = store_.New();
    block->address = segment_.base;
    block->bytes = segment_.bytes;
    block->segment = &segment_;
    block->pool = &pool_;
    first_ = block;
    pool_.Give(block);
  }
  BlockStore store_;
  BlockPool pool_;
  Segment segment_;
  Block* first_;
};

TEST_F(BlockPoolTest, SplitsAndJoinsToTheWhole) {
  Block* a = pool_.Take(64);
  Block* b = pool_.Take(4096);
  Block* c = pool_.Take(128);
  EXPECT_EQ(b->address, a->address + 64);
  EXPECT_EQ(c->address, b->address + 4096);
  pool_.Give(b);
  pool_.Give(a);
  Block* whole = pool_.Give(c);
  EXPECT_EQ(whole->bytes, segment_.bytes);
  EXPECT_EQ(whole->upper, nullptr);
  EXPECT_EQ(whole->lower, nullptr);
}

TEST_F(BlockPoolTest, PrefersTheBestFit) {
  Block* blocks[8];
  const int64_t sizes[] = {1024, 64, 640, 64, 1024 * 64, 64, 896, 64};
  for (int i = 0; i < 8; ++i) blocks[i] = pool_.Take(sizes[i]);
  for (int i = 0; i < 8; i += 2) pool_.Give(blocks[i]);
  EXPECT_EQ(pool_.Take(640)->address, blocks[2]->address);
  EXPECT_EQ(pool_.Take(832)->address, blocks[6]->address);
  EXPECT_EQ(pool_.Take(1024 * 60)->address, blocks[4]->address);
}

TEST_F(BlockPoolTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(pool_.Take(segment_.bytes + 64), nullptr);
  Block* all = pool_.Take(segment_.bytes);
  EXPECT_NE(all, nullptr);
  EXPECT_EQ(pool_.Take(64), nullptr);
}

TEST_F(BlockPoolTest, RandomUseNeverOverlapsAndComesBackWhole) {
  std::mt19937 random(7);
  std::vector<Block*> held;
  std::set<std::pair<uintptr_t, uintptr_t>> ranges;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 && !held.empty()) {
      const size_t i = random() % held.size();
      ranges.erase({held[i]->address, held[i]->address + static_cast<uintptr_t>(held[i]->bytes)});
      pool_.Give(held[i]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const auto bytes = static_cast<int64_t>(64 * (1 + random() % (random() % 8 ? 40 : 600)));
    Block* block = pool_.Take(bytes);
    if (block == nullptr) continue;
    ASSERT_GE(block->bytes, bytes);
    const uintptr_t end = block->address + static_cast<uintptr_t>(block->bytes);
    const auto next = ranges.lower_bound({block->address, 0});
    ASSERT_TRUE(next == ranges.end() || next->first >= end);
    ASSERT_TRUE(next == ranges.begin() || std::prev(next)->second <= block->address);
    ranges.insert({block->address, end});
    held.push_back(block);
  }
  for (Block* block : held) pool_.Give(block);
  Block* whole = pool_.Take(segment_.bytes);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->address, segment_.base);
}

}  // namespace
}  // namespace neuron::runtime
