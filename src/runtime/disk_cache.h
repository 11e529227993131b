// Compiled programs on disk, shared by processes.
//
// Layout: <directory>/1/<two digits>/<key>.neff, each with a header of magic, size and SHA-256 of
// what follows. Files are written under a temporary name and renamed, so a reader sees all or
// nothing. A lock per key (one of 256 lock files) lets one process compile while others wait for
// its result. Entries used longest ago are removed when the total passes the limit. Thread safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "base/status.h"

namespace neuron::runtime {

class DiskCache {
 public:
  // Held until destroyed; empty where the directory cannot be written.
  class Lock {
   public:
    Lock() = default;
    explicit Lock(int file) : file_(file) {}
    Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    Lock& operator=(Lock&&) = delete;
    ~Lock();

   private:
    int file_ = -1;
  };

  DiskCache(const std::filesystem::path& directory, int64_t max_bytes);

  // NotFound, or DataLoss for an entry that fails its checksum (which is removed).
  StatusOr<std::string> Get(const std::string& key);
  Status Put(const std::string& key, std::string_view contents);
  void Remove(const std::string& key);
  Lock LockKey(const std::string& key);
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path PathOf(const std::string& key) const;
  void Trim();

  const std::filesystem::path directory_;
  const int64_t max_bytes_;
  std::mutex mutex_;
  int64_t written_since_trim_ = 0;
  bool trimmed_ = false;
};

}  // namespace neuron::runtime
