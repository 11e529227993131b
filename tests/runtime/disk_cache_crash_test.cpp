// The directory of compiled programs outlives processes that are killed and disks that are full.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/sha256.h"
#include "runtime/disk_cache.h"

namespace neuron::runtime {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLimit = int64_t{1} << 30;
constexpr int kEntries = 8;

std::string Key(int i) { return ToHex(Sha256Of(StrCat(i))); }
std::string Contents(int i) { return std::string(size_t{4} << 20, static_cast<char>('a' + i)); }

class DiskCacheCrashTest : public ::testing::Test {
 protected:
  DiskCacheCrashTest()
      : directory_(fs::path(::testing::TempDir()) / StrCat("disk_cache_crash_", getpid())) {
    fs::remove_all(directory_);
  }
  ~DiskCacheCrashTest() override { fs::remove_all(directory_); }

  // `body` in a process of its own; its exit status is what it returns.
  template <typename Body>
  pid_t InChild(const Body& body) const {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    return child;
  }
  static int StatusOfChild(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  int CountTemporary() const {
    int count = 0;
    for (const auto& file : fs::recursive_directory_iterator(directory_))
      count += file.path().extension() == ".tmp";
    return count;
  }
  const fs::path directory_;
};

TEST_F(DiskCacheCrashTest, KilledInTheMiddleOfAWriteLeavesWholeEntriesOrNone) {
  int unfinished = 0;
  for (int round = 0; round < 20 || (unfinished == 0 && round < 200); ++round) {
    const pid_t child = InChild([&] {
      DiskCache cache(directory_, kLimit);
      for (int i = 0;; ++i) (void)cache.Put(Key(i % kEntries), Contents(i % kEntries));
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + 2 * round));
    kill(child, SIGKILL);
    StatusOfChild(child);
    if (!fs::exists(directory_)) continue;
    unfinished += CountTemporary();
    DiskCache cache(directory_, kLimit);
    for (int i = 0; i < kEntries; ++i) {
      const StatusOr<std::string> got = cache.Get(Key(i));
      if (got.ok()) {
        EXPECT_EQ(*got, Contents(i));
      } else {
        EXPECT_TRUE(IsNotFound(got.status())) << got.status().ToString();
      }
    }
  }
  EXPECT_GT(unfinished, 0) << "no round hit a write";
  // A lock that the killed process may have held is free, and an entry can be written again.
  DiskCache cache(directory_, kLimit);
  const DiskCache::Lock lock = cache.LockKey(Key(0));
  ASSERT_TRUE(cache.Put(Key(0), Contents(0)).ok());
  EXPECT_EQ(*cache.Get(Key(0)), Contents(0));
}

TEST_F(DiskCacheCrashTest, AFullDiskIsAnErrorThatLeavesNothingBehind) {
  ASSERT_TRUE(DiskCache(directory_, kLimit).Put(Key(0), "kept").ok());
  // A limit of file sizes stands for the disk: the write that passes it fails as on a full one.
  const pid_t child = InChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &little) != 0) return 2;
    const Status status = DiskCache(directory_, kLimit).Put(Key(1), Contents(1));
    return IsUnavailable(status) && status.message().find(Key(1)) != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(StatusOfChild(child), 0);
  EXPECT_EQ(CountTemporary(), 0);
  DiskCache cache(directory_, kLimit);
  EXPECT_TRUE(IsNotFound(cache.Get(Key(1)).status()));
  EXPECT_EQ(*cache.Get(Key(0)), "kept");
}

TEST_F(DiskCacheCrashTest, AReadOnlyDirectoryServesWhatItHasAndSaysThatItTakesNothing) {
  ASSERT_TRUE(DiskCache(directory_, kLimit).Put(Key(0), "kept").ok());
  ASSERT_TRUE(DiskCache(directory_, kLimit).Put(Key(1), "damaged").ok());
  for (const auto& file : fs::recursive_directory_iterator(directory_))
    if (file.path().filename() == Key(1) + ".neff")
      std::ofstream(file.path(), std::ios::app) << "x";
  for (const auto& file : fs::recursive_directory_iterator(directory_))
    fs::permissions(file.path(), fs::is_directory(file.path()) ? fs::perms(0555) : fs::perms(0444));
  fs::permissions(directory_, fs::perms(0555));
  const pid_t child = InChild([&] {
    if (getuid() == 0 && setuid(65534) != 0) return 2;  // root may write everywhere
    DiskCache cache(directory_, kLimit);
    for (int round = 0; round < 2; ++round) {
      const StatusOr<std::string> kept = cache.Get(Key(0));
      if (!kept.ok() || *kept != "kept") return 3;
      const Status damaged = cache.Get(Key(1)).status();
      if (!IsDataLoss(damaged) || damaged.message().find("cannot be removed") == std::string::npos)
        return 4;
      const DiskCache::Lock lock = cache.LockKey(Key(2));  // nobody to wait for
      const Status refused = cache.Put(Key(2), "new");
      if (!IsUnavailable(refused) ||
          refused.message().find("Permission denied") == std::string::npos)
        return 5;
    }
    return 0;
  });
  const int status = StatusOfChild(child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const auto& file : fs::recursive_directory_iterator(directory_))
    fs::permissions(file.path(), fs::perms(0755));
  fs::permissions(directory_, fs::perms(0755));
}

}  // namespace
}  // namespace neuron::runtime
