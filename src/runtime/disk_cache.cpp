#include "runtime/disk_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "base/sha256.h"

namespace neuron::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'T', 'N', 'C', 'A', 'C', 'H', 'E', '1'};
struct Header {
  char magic[8];
  uint64_t bytes;
  Sha256Digest digest;
};
static_assert(sizeof(Header) == 48);

constexpr auto kAbandonedAfter = std::chrono::hours(1);  // temporary files of dead processes

Status WriteAll(int file, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(file, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Unavailable("write: ", std::strerror(errno));
    at += written;
    bytes -= static_cast<size_t>(written);
  }
  return OkStatus();
}

}  // namespace

DiskCache::Lock::~Lock() {
  if (file_ >= 0) close(file_);  // releases the lock
}

DiskCache::DiskCache(const fs::path& directory, int64_t max_bytes)
    : directory_(directory / "1"), max_bytes_(max_bytes) {}

fs::path DiskCache::PathOf(const std::string& key) const {
  return directory_ / key.substr(0, 2) / (key + ".neff");
}

StatusOr<std::string> DiskCache::Get(const std::string& key) {
  const fs::path path = PathOf(key);
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound(path.string());
  Header header{};
  std::string contents;
  if (file.read(reinterpret_cast<char*>(&header), sizeof(header)) &&
      std::memcmp(header.magic, kMagic, sizeof(kMagic)) == 0) {
    std::error_code error;
    const uintmax_t size = fs::file_size(path, error);
    if (!error && size == sizeof(header) + header.bytes) {
      contents.resize(header.bytes);
      file.read(contents.data(), static_cast<std::streamsize>(contents.size()));
    }
  }
  if (contents.empty() || !file || Sha256Of(contents) != header.digest) {
    Remove(key);
    std::error_code error;
    return DataLoss(path.string(), " fails its checksum and ",
                    fs::exists(path, error) ? "cannot be removed" : "was removed");
  }
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  return contents;
}

Status DiskCache::Put(const std::string& key, std::string_view contents) {
  static std::atomic<int> counter{0};
  const fs::path path = PathOf(key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return Unavailable(path.parent_path().string(), ": ", error.message());
  const fs::path temporary = StrCat(path.string(), ".", getpid(), ".", counter++, ".tmp");
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return Unavailable(temporary.string(), ": ", std::strerror(errno));
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.bytes = contents.size();
  header.digest = Sha256Of(contents);
  Status status = WriteAll(file, &header, sizeof(header));
  if (status.ok()) status = WriteAll(file, contents.data(), contents.size());
  if (close(file) != 0 && status.ok()) status = Unavailable("close: ", std::strerror(errno));
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0)
    status = Unavailable("rename: ", std::strerror(errno));
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status.WithPrefix(temporary.string() + ": ");
  }
  {
    std::lock_guard lock(mutex_);
    written_since_trim_ += static_cast<int64_t>(contents.size());
    // Looking at every file is not free: once per process, then per sixteenth of the limit.
    if (trimmed_ && written_since_trim_ < max_bytes_ / 16) return OkStatus();
    trimmed_ = true;
    written_since_trim_ = 0;
  }
  Trim();
  return OkStatus();
}

void DiskCache::Remove(const std::string& key) {
  std::error_code error;
  fs::remove(PathOf(key), error);
}

DiskCache::Lock DiskCache::LockKey(const std::string& key) {
  const fs::path path = directory_ / key.substr(0, 2) / "lock";
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return Lock();
  while (flock(file, LOCK_EX) != 0) {
    if (errno != EINTR) {
      close(file);
      return Lock();
    }
  }
  return Lock(file);
}

void DiskCache::Trim() {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::recursive_directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;  // another process may remove what we look at
    const auto used = fs::last_write_time(at->path(), gone);
    if (gone || !at->is_regular_file(gone)) continue;
    if (at->path().extension() == ".tmp" && now - used > kAbandonedAfter) {
      fs::remove(at->path(), gone);
    } else if (at->path().extension() == ".neff") {
      const auto bytes = static_cast<int64_t>(at->file_size(gone));
      if (gone) continue;
      entries.push_back({at->path(), used, bytes});
      total += bytes;
    }
  }
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  // Down to seven eighths, so that the next insertion need not trim again.
  for (const Entry& entry : entries) {
    if (total <= max_bytes_ / 8 * 7) break;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

}  // namespace neuron::runtime
