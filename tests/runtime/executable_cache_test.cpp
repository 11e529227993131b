#include "runtime/executable_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/sha256.h"
#include "runtime/support.h"

namespace neuron::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = "recording\niota output0 4\n";

class ExecutableCacheTest : public ::testing::Test {
 protected:
  ExecutableCacheTest() : directory_(fs::path(::testing::TempDir()) / StrCat("cache_", getpid())) {
    fs::remove_all(directory_);
  }
  ~ExecutableCacheTest() override { fs::remove_all(directory_); }
  std::unique_ptr<ExecutableCache> NewCache() const {
    return std::make_unique<ExecutableCache>(std::make_unique<DiskCache>(directory_, 1 << 20));
  }
  ExecutableCache::Maker Maker() {
    return {.compile = [this]() -> StatusOr<std::string> {
              ++compiled_;
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              return std::string(kProgram);
            },
            .signature = [](std::string_view) { return compiler::Signature{}; }};
  }
  Device& device(int i = 0) { return **GetDevice(i); }
  const std::string key_ = ToHex(Sha256Of("key"));
  const fs::path directory_;
  std::atomic<int> compiled_{0};
};

TEST_F(ExecutableCacheTest, MemoryThenDiskThenCompiler) {
  auto cache = NewCache();
  const auto first = cache->Get(device(), key_, Maker());
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(*cache->Get(device(), key_, Maker()), *first);
  EXPECT_NE(*cache->Get(device(1), key_, Maker()), *first);  // loaded there, not compiled again
  EXPECT_EQ(compiled_, 1);
  auto later = NewCache();
  ASSERT_TRUE(later->Get(device(), key_, Maker()).ok());
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(cache->Statistics().compiled, 1);
  EXPECT_EQ(cache->Statistics().memory_hits, 2);
  EXPECT_GE(cache->Statistics().compile_seconds, 0.02);
  EXPECT_EQ(later->Statistics().disk_hits, 1);
}

TEST_F(ExecutableCacheTest, DamageIsCountedAndCompiledAgain) {
  ASSERT_TRUE(NewCache()->Get(device(), key_, Maker()).ok());
  for (const auto& file : fs::recursive_directory_iterator(directory_))
    if (file.path().extension() == ".neff") std::ofstream(file.path(), std::ios::app) << "x";
  ::testing::internal::CaptureStderr();
  auto cache = NewCache();
  ASSERT_TRUE(cache->Get(device(), key_, Maker()).ok());
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("fails its checksum"), std::string::npos) << said;
  EXPECT_EQ(cache->Statistics().corrupt, 1);
  EXPECT_EQ(compiled_, 2);
  ASSERT_TRUE(NewCache()->Get(device(), key_, Maker()).ok());
  EXPECT_EQ(compiled_, 2);
}

TEST_F(ExecutableCacheTest, AnEntryTheLibraryRefusesIsCompiledAgain) {
  ASSERT_TRUE(DiskCache(directory_, 1 << 20).Put(key_, "another compiler's program").ok());
  auto cache = NewCache();
  ASSERT_TRUE(cache->Get(device(), key_, Maker()).ok());
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(cache->Statistics().corrupt, 1);
}

TEST_F(ExecutableCacheTest, OneThreadCompilesTheOthersWait) {
  auto cache = NewCache();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] { EXPECT_TRUE(cache->Get(device(), key_, Maker()).ok()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled_, 1);
}

TEST_F(ExecutableCacheTest, OneOfManyCachesOnADirectoryCompiles) {
  // Locks are between open files, so caches of one process stand for processes.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] { EXPECT_TRUE(NewCache()->Get(device(), key_, Maker()).ok()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled_, 1);
}

TEST_F(ExecutableCacheTest, DifferentKeysAreCompiledAtTheSameTime) {
  constexpr int kThreads = 3;
  auto cache = NewCache();
  std::atomic<int> compiling{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      auto maker = Maker();
      maker.compile = [&]() -> StatusOr<std::string> {
        ++compiling;  // each waits for all the others to compile
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (compiling < kThreads && std::chrono::steady_clock::now() < end)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return compiling == kThreads ? StatusOr<std::string>(std::string(kProgram))
                                     : Internal("nobody else compiles");
      };
      const auto got = cache->Get(device(), ToHex(Sha256Of(StrCat("key ", t))), maker);
      EXPECT_TRUE(got.ok()) << got.status().ToString();
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ExecutableCacheTest, AFailureIsNotRemembered) {
  auto cache = NewCache();
  auto maker = Maker();
  maker.compile = []() -> StatusOr<std::string> { return Unimplemented("no lowering for topk"); };
  EXPECT_TRUE(IsUnimplemented(cache->Get(device(), key_, maker).status()));
  EXPECT_TRUE(cache->Get(device(), key_, Maker()).ok());
}

TEST_F(ExecutableCacheTest, WithoutADiskThereIsMemory) {
  ExecutableCache cache(nullptr);
  ASSERT_TRUE(cache.Get(device(), key_, Maker()).ok());
  ASSERT_TRUE(cache.Get(device(), key_, Maker()).ok());
  EXPECT_EQ(compiled_, 1);
}

}  // namespace
}  // namespace neuron::runtime
