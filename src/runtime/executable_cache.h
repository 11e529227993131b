// The executable cache: loaded programs in memory, containers on disk, the compiler behind both.
//
// One thread (and, through the disk's lock, one process) makes an executable while others that want
// the same wait for it. An entry on disk that is damaged, or that the library refuses, is said
// once, removed and compiled again. Thread safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "compiler/compiler.h"
#include "runtime/disk_cache.h"
#include "runtime/loaded_executable.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

class ExecutableCache {
 public:
  struct Maker {
    std::function<StatusOr<std::string>()> compile;  // -> container
    std::function<StatusOr<compiler::Signature>(std::string_view container)> signature;
    bool fresh = false;  // compile even if the disk has it: passes are to be dumped
  };
  explicit ExecutableCache(std::unique_ptr<DiskCache> disk) : disk_(std::move(disk)) {}

  // `key`: hexadecimal, of everything that the container depends on.
  StatusOr<std::shared_ptr<LoadedExecutable>> Get(Device& device, const std::string& key,
                                                  const Maker& maker);
  CacheStatistics Statistics() const;
  bool has_disk() const { return disk_ != nullptr; }

 private:
  struct Entry {
    std::mutex mutex;  // held while the executable is made
    std::shared_ptr<LoadedExecutable> executable;
  };
  std::shared_ptr<Entry> EntryOf(int device, const std::string& key);
  StatusOr<std::shared_ptr<LoadedExecutable>> Make(Device& device, const std::string& key,
                                                   const Maker& maker);
  StatusOr<std::shared_ptr<LoadedExecutable>> FromDisk(Device& device, const std::string& key,
                                                       const Maker& maker);
  StatusOr<std::shared_ptr<LoadedExecutable>> CompileAndLoad(Device& device, const std::string& key,
                                                             const Maker& maker);
  StatusOr<std::shared_ptr<LoadedExecutable>> LoadOn(Device& device, std::string container,
                                                     const Maker& maker);
  std::string ContainerInMemory(const std::string& key);

  std::unique_ptr<DiskCache> disk_;  // null: memory only
  mutable std::mutex mutex_;
  std::map<std::pair<int, std::string>, std::shared_ptr<Entry>> entries_;
  std::map<std::string, std::weak_ptr<LoadedExecutable>> any_device_;
  CacheStatistics statistics_;
  bool said_damage_ = false, said_unwritable_ = false;
};

}  // namespace neuron::runtime
