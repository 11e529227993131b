#include "runtime/disk_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/sha256.h"

namespace neuron::runtime {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest()
      : directory_(fs::path(::testing::TempDir()) /
                   StrCat("disk_cache_", ::testing::UnitTest::GetInstance()->random_seed(), "_",
                          getpid())) {
    fs::remove_all(directory_);
  }
  ~DiskCacheTest() override { fs::remove_all(directory_); }
  static std::string Key(int i) { return ToHex(Sha256Of(StrCat(i))); }
  fs::path File(int i) const { return directory_ / "1" / Key(i).substr(0, 2) / (Key(i) + ".neff"); }
  int Count(const std::string& extension) const {
    int count = 0;
    for (const auto& file : fs::recursive_directory_iterator(directory_))
      count += file.path().extension() == extension;
    return count;
  }
  const fs::path directory_;
};

TEST_F(DiskCacheTest, WhatIsPutIsGot) {
  DiskCache cache(directory_, 1 << 20);
  EXPECT_TRUE(IsNotFound(cache.Get(Key(1)).status()));
  const std::string contents("a\0b", 3);
  ASSERT_TRUE(cache.Put(Key(1), contents).ok());
  EXPECT_EQ(*DiskCache(directory_, 1 << 20).Get(Key(1)), contents);
  EXPECT_EQ(Count(".tmp"), 0);
}

TEST_F(DiskCacheTest, EveryKindOfDamageIsFoundAndTheEntryRemoved) {
  DiskCache cache(directory_, 1 << 20);
  const std::string contents(1000, 'x');
  for (const int damage : {0, 1, 2, 3}) {
    ASSERT_TRUE(cache.Put(Key(1), contents).ok());
    if (damage == 0) {
      std::fstream file(File(1), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(500);
      file.put('y');
    } else if (damage == 1) {
      fs::resize_file(File(1), 700);
    } else if (damage == 2) {
      fs::resize_file(File(1), 0);
    } else {
      std::ofstream(File(1), std::ios::app) << "more";
    }
    EXPECT_TRUE(IsDataLoss(cache.Get(Key(1)).status())) << damage;
    EXPECT_FALSE(fs::exists(File(1)));
    EXPECT_TRUE(IsNotFound(cache.Get(Key(1)).status()));
  }
}

TEST_F(DiskCacheTest, TheLimitHoldsAndTheLeastRecentlyUsedGo) {
  DiskCache cache(directory_, 10000);
  const std::string contents(1000, 'x');
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(cache.Put(Key(i), contents).ok());
    fs::last_write_time(File(i), now - std::chrono::hours(20 - i));
  }
  ASSERT_TRUE(cache.Get(Key(0)).ok());  // used now
  for (int i = 8; i < 11; ++i) ASSERT_TRUE(cache.Put(Key(i), contents).ok());
  EXPECT_TRUE(fs::exists(File(0)));
  EXPECT_FALSE(fs::exists(File(1)));
  EXPECT_TRUE(fs::exists(File(10)));
  EXPECT_LE(Count(".neff") * 1048, 10000);
}

TEST_F(DiskCacheTest, ALockIsHeldByOne) {
  DiskCache cache(directory_, 1 << 20);
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const DiskCache::Lock lock = cache.LockKey(Key(1));
      most = std::max<int>(most, ++inside);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST_F(DiskCacheTest, ADirectoryThatCannotBeWrittenIsNamed) {
  DiskCache cache("/proc/nowhere", 1 << 20);
  const Status status = cache.Put(Key(1), "x");
  EXPECT_TRUE(IsUnavailable(status));
  EXPECT_NE(status.message().find("/proc/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace neuron::runtime
