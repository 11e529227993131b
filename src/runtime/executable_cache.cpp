#include "runtime/executable_cache.h"

#include <chrono>
#include <cstdio>

#include "runtime/device.h"

namespace neuron::runtime {

CacheStatistics ExecutableCache::Statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

std::shared_ptr<ExecutableCache::Entry> ExecutableCache::EntryOf(int device,
                                                                 const std::string& key) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[{device, key}];
  if (entry == nullptr) entry = std::make_shared<Entry>();
  return entry;
}

StatusOr<std::shared_ptr<LoadedExecutable>> ExecutableCache::Get(Device& device,
                                                                 const std::string& key,
                                                                 const Maker& maker) {
  const std::shared_ptr<Entry> entry = EntryOf(device.index(), key);
  std::lock_guard making(entry->mutex);
  if (entry->executable != nullptr) {
    std::lock_guard lock(mutex_);
    ++statistics_.memory_hits;
    return entry->executable;
  }
  NEURON_ASSIGN_OR_RETURN(entry->executable, Make(device, key, maker));
  std::lock_guard lock(mutex_);
  any_device_[key] = entry->executable;
  return entry->executable;
}

StatusOr<std::shared_ptr<LoadedExecutable>> ExecutableCache::LoadOn(Device& device,
                                                                    std::string container,
                                                                    const Maker& maker) {
  NEURON_ASSIGN_OR_RETURN(compiler::Signature signature, maker.signature(container));
  return LoadedExecutable::Load(device, std::move(container), std::move(signature));
}

std::string ExecutableCache::ContainerInMemory(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = any_device_.find(key);
  if (found == any_device_.end()) return {};
  const std::shared_ptr<LoadedExecutable> executable = found->second.lock();
  return executable ? executable->container() : std::string();
}

StatusOr<std::shared_ptr<LoadedExecutable>> ExecutableCache::FromDisk(Device& device,
                                                                      const std::string& key,
                                                                      const Maker& maker) {
  StatusOr<std::string> container = disk_->Get(key);
  Status status = container.status();
  if (container.ok()) {
    auto loaded = LoadOn(device, *std::move(container), maker);
    if (loaded.ok()) {
      std::lock_guard lock(mutex_);
      ++statistics_.disk_hits;
      return loaded;
    }
    if (IsResourceExhausted(loaded.status())) return loaded;  // no fault of the entry
    status = loaded.status().WithPrefix("an entry of the program cache cannot be loaded: ");
    disk_->Remove(key);
  }
  if (!IsNotFound(status)) {
    std::lock_guard lock(mutex_);
    ++statistics_.corrupt;
    if (!std::exchange(said_damage_, true))
      std::fprintf(stderr, "torchneuron: %s; compiling it again (said once)\n",
                   std::string(status.message()).c_str());
    return NotFound("");
  }
  return status;
}

StatusOr<std::shared_ptr<LoadedExecutable>> ExecutableCache::Make(Device& device,
                                                                  const std::string& key,
                                                                  const Maker& maker) {
  if (std::string container = ContainerInMemory(key); !container.empty()) {
    {
      std::lock_guard lock(mutex_);
      ++statistics_.memory_hits;
    }
    return LoadOn(device, std::move(container), maker);
  }
  if (disk_ != nullptr && !maker.fresh) {
    auto found = FromDisk(device, key, maker);
    if (!IsNotFound(found.status())) return found;
    // Whoever had the lock before us may have put what we need.
    DiskCache::Lock lock = disk_->LockKey(key);
    found = FromDisk(device, key, maker);
    if (!IsNotFound(found.status())) return found;
    return CompileAndLoad(device, key, maker);
  }
  return CompileAndLoad(device, key, maker);
}

StatusOr<std::shared_ptr<LoadedExecutable>> ExecutableCache::CompileAndLoad(Device& device,
                                                                            const std::string& key,
                                                                            const Maker& maker) {
  const auto start = std::chrono::steady_clock::now();
  NEURON_ASSIGN_OR_RETURN(std::string container, maker.compile());
  {
    std::lock_guard lock(mutex_);
    ++statistics_.compiled;
    statistics_.compile_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (disk_ != nullptr) {
    if (const Status status = disk_->Put(key, container); !status.ok()) {
      std::lock_guard lock(mutex_);
      if (!std::exchange(said_unwritable_, true))
        std::fprintf(stderr,
                     "torchneuron: compiled programs cannot be kept on disk: %s (said once; "
                     "TORCH_NEURONX_NEFF_CACHE_DIR names another directory)\n",
                     std::string(status.message()).c_str());
    }
  }
  return LoadOn(device, std::move(container), maker);
}

}  // namespace neuron::runtime
