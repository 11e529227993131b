#include "nrt/recording_nrt.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "nrt/nrt_abi.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr uint32_t kCores = 2;

struct Storage {
  explicit Storage(size_t size, int core);
  ~Storage();
  char* data;
  size_t size;
  int core;
};

struct Recorder {
  std::mutex mutex;
  std::vector<std::string> calls;
  uint64_t limit = uint64_t{1} << 30;
  uint64_t used[kCores] = {};
  std::atomic<int> executing[kCores] = {}, reading[kCores] = {}, writing[kCores] = {};
  std::atomic<uint64_t> most_executing{0}, most_reading{0}, most_writing{0}, most_together{0};
  std::atomic<int64_t> copy_delay_us{0};
  std::atomic<uint64_t> copy_delay_from{0};
  bool initialized = false;
  std::set<const void*> alive;  // models, tensors, sets
  std::vector<std::string> violations;
  int next_id = 1;
};
Recorder& recorder() {
  static auto& instance = *new Recorder;
  return instance;
}

template <typename... Parts>
void Record(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  std::lock_guard lock(recorder().mutex);
  recorder().calls.push_back(std::move(out).str());
}

void Raise(std::atomic<uint64_t>& most, int now) {
  const auto value = static_cast<uint64_t>(now);
  uint64_t old = most;
  while (value > old && !most.compare_exchange_weak(old, value)) {
  }
}

// Counts what happens at once on a core, for as long as it lives.
class Activity {
 public:
  Activity(std::atomic<int> (&counters)[kCores], std::atomic<uint64_t>& most, int core)
      : counter_(counters[core < 0 ? 0 : core]) {
    Recorder& all = recorder();
    Raise(most, ++counter_);
    const int on = core < 0 ? 0 : core;
    Raise(all.most_together, all.executing[on] + all.reading[on] + all.writing[on]);
  }
  ~Activity() { --counter_; }
  Activity(const Activity&) = delete;

 private:
  std::atomic<int>& counter_;
};

void DelayCopy(size_t size) {
  const int64_t delay_us = recorder().copy_delay_us;
  if (delay_us > 0 && size >= recorder().copy_delay_from)
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
}

void Violate(const std::string& what) {
  std::lock_guard lock(recorder().mutex);
  recorder().violations.push_back(what);
}
void Begin(const char* call) {
  if (!recorder().initialized) Violate(std::string(call) + " before nrt_init or after nrt_close");
}
void Born(const void* handle) {
  std::lock_guard lock(recorder().mutex);
  recorder().alive.insert(handle);
}
// Whether the handle names something, which is said if not. Gives it back if `last`.
bool Uses(const char* call, const void* handle, bool last = false) {
  Begin(call);
  std::lock_guard lock(recorder().mutex);
  const bool alive = last ? recorder().alive.erase(handle) == 1 : recorder().alive.contains(handle);
  if (!alive) recorder().violations.push_back(std::string(call) + " of what is not alive");
  return alive;
}

Storage::Storage(size_t bytes, int on) : size(bytes), core(on) {
  data = static_cast<char*>(aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  std::memset(data, 0xCD, bytes);  // fresh memory has no known contents
}
Storage::~Storage() {
  std::free(data);
  std::lock_guard lock(recorder().mutex);
  if (core >= 0) recorder().used[core] -= size;
}

using Set = std::map<std::string, nrt_tensor*>;

struct Declared {
  size_t bytes;
  int slot;
};

}  // namespace

struct nrt_tensor {
  std::shared_ptr<Storage> storage;
  size_t offset, size;
  int id;
  char* data() const { return storage->data + offset; }
};
struct nrt_model {
  std::string text;
  int core;
  int id;
};

EXPORT const char* recording_nrt_calls() {
  static thread_local std::string text;
  text.clear();
  std::lock_guard lock(recorder().mutex);
  for (const std::string& call : recorder().calls) text += call + "\n";
  return text.c_str();
}
EXPORT const char* recording_nrt_violations() {
  static thread_local std::string text;
  text.clear();
  std::lock_guard lock(recorder().mutex);
  for (const std::string& violation : recorder().violations) text += violation + "\n";
  return text.c_str();
}
EXPORT void recording_nrt_clear() {
  std::lock_guard lock(recorder().mutex);
  recorder().calls.clear();
}
EXPORT void recording_nrt_set_memory_limit(uint64_t bytes) {
  std::lock_guard lock(recorder().mutex);
  recorder().limit = bytes;
}
EXPORT uint64_t recording_nrt_memory_used() {
  std::lock_guard lock(recorder().mutex);
  return recorder().used[0];
}
EXPORT uint64_t recording_nrt_max_concurrent_executions() { return recorder().most_executing; }
EXPORT uint64_t recording_nrt_max_reads() { return recorder().most_reading; }
EXPORT uint64_t recording_nrt_max_writes() { return recorder().most_writing; }
EXPORT uint64_t recording_nrt_max_together() { return recorder().most_together; }
EXPORT void recording_nrt_set_copy_delay(int64_t microseconds, uint64_t from_bytes) {
  recorder().copy_delay_from = from_bytes;
  recorder().copy_delay_us = microseconds;
}

EXPORT NRT_STATUS nrt_init(nrt_framework_type_t framework, const char*, const char*) {
  Record("nrt_init ", framework);
  recorder().initialized = true;
  return NRT_SUCCESS;
}
EXPORT void nrt_close() {
  Record("nrt_close");
  recorder().initialized = false;
}
EXPORT NRT_STATUS nrt_get_version(nrt_version_t* version, size_t size) {
  if (size < sizeof(nrt_version_t)) return NRT_INVALID;
  *version = {};
  version->rt_major = 2;
  version->rt_minor = 30;
  std::strcpy(version->rt_detail, "recording");
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_get_total_nc_count(uint32_t* count) {
  *count = kCores;
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_get_visible_nc_count(uint32_t* count) {
  *count = kCores;
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats, size_t,
                                           size_t* size_out) {
  if (vnc >= kCores) return NRT_INVALID;
  std::lock_guard lock(recorder().mutex);
  stats->bytes_used = recorder().used[vnc];
  stats->bytes_limit = recorder().limit;
  *size_out = sizeof(*stats);
  return NRT_SUCCESS;
}

EXPORT NRT_STATUS nrt_load(const void* neff, size_t size, int32_t vnc, int32_t,
                           nrt_model_t** model) {
  Begin("nrt_load");
  std::string text(static_cast<const char*>(neff), size);
  if (!text.starts_with("recording\n")) return NRT_UNSUPPORTED_NEFF_VERSION;
  if (vnc < 0 || vnc >= static_cast<int32_t>(kCores)) return NRT_INVALID;
  std::lock_guard lock(recorder().mutex);
  *model = new nrt_model{std::move(text), vnc, recorder().next_id++};
  recorder().alive.insert(*model);
  recorder().calls.push_back("nrt_load " + std::to_string((*model)->id));
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_unload(nrt_model_t* model) {
  if (!Uses("nrt_unload", model, true)) return NRT_INVALID_HANDLE;
  Record("nrt_unload ", model->id);
  delete model;
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_get_model_tensor_info(nrt_model_t*, nrt_tensor_info_array_t** info) {
  *info = static_cast<nrt_tensor_info_array_t*>(std::calloc(1, sizeof(nrt_tensor_info_array_t)));
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* info) {
  std::free(info);
  return NRT_SUCCESS;
}

EXPORT NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** set) {
  Record("nrt_allocate_tensor_set");
  *set = new Set;
  Begin("nrt_allocate_tensor_set");
  Born(*set);
  return NRT_SUCCESS;
}
EXPORT void nrt_destroy_tensor_set(nrt_tensor_set_t** set) {
  Record("nrt_destroy_tensor_set");
  if (!Uses("nrt_destroy_tensor_set", *set, true)) return;
  delete static_cast<Set*>(*set);
  *set = nullptr;
}
EXPORT NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* set, const char* name,
                                               nrt_tensor_t* tensor) {
  if (!Uses("nrt_add_tensor_to_tensor_set", set)) return NRT_INVALID_HANDLE;
  if (!Uses("nrt_add_tensor_to_tensor_set", tensor)) return NRT_INVALID_HANDLE;
  (*static_cast<Set*>(set))[name] = tensor;
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* set, const char* name,
                                                 nrt_tensor_t** tensor) {
  const auto found = static_cast<Set*>(set)->find(name);
  if (found == static_cast<Set*>(set)->end()) return NRT_FAILURE;
  *tensor = found->second;
  return NRT_SUCCESS;
}

EXPORT NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t, int vnc, size_t size, const char*,
                                      nrt_tensor_t** tensor) {
  if (size == 0 || vnc >= static_cast<int>(kCores)) return NRT_INVALID;
  {
    std::lock_guard lock(recorder().mutex);
    if (vnc >= 0 && recorder().used[vnc] + size > recorder().limit) return NRT_RESOURCE;
    if (vnc >= 0) recorder().used[vnc] += size;
  }
  auto storage = std::make_shared<Storage>(size, vnc);
  std::lock_guard lock(recorder().mutex);
  *tensor = new nrt_tensor{std::move(storage), 0, size, recorder().next_id++};
  recorder().alive.insert(*tensor);
  if (!recorder().initialized)
    recorder().violations.push_back("nrt_tensor_allocate before nrt_init");
  recorder().calls.push_back("nrt_tensor_allocate " + std::to_string(size));
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* source, size_t offset, size_t size,
                                            const char*, nrt_tensor_t** tensor) {
  if (!Uses("nrt_tensor_allocate_slice", source)) return NRT_INVALID_HANDLE;
  if (offset + size > source->size) return NRT_INVALID;
  Record("nrt_tensor_allocate_slice ", size);
  *tensor = new nrt_tensor{source->storage, source->offset + offset, size, source->id};
  Born(*tensor);
  return NRT_SUCCESS;
}
EXPORT void nrt_tensor_free(nrt_tensor_t** tensor) {
  if (!Uses("nrt_tensor_free", *tensor, true)) return;
  Record("nrt_tensor_free ", (*tensor)->size);
  delete *tensor;
  *tensor = nullptr;
}
EXPORT size_t nrt_tensor_get_size(const nrt_tensor_t* tensor) { return tensor->size; }
EXPORT void* nrt_tensor_get_va(const nrt_tensor_t* tensor) {
  // An address that nobody may dereference: bit 46 is set, which no user mapping here has.
  static const bool none = std::getenv("RECORDING_NRT_NO_ADDRESSES") != nullptr;
  return none ? nullptr
              : reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(tensor->data()) ^
                                        (uintptr_t{1} << 62));
}
EXPORT NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buffer, size_t offset,
                                  size_t size) {
  if (!Uses("nrt_tensor_read", tensor)) return NRT_INVALID_HANDLE;
  if (offset + size > tensor->size) {
    Violate("nrt_tensor_read beyond the tensor");
    return NRT_INVALID;
  }
  Record("nrt_tensor_read ", size);
  const Activity activity(recorder().reading, recorder().most_reading, tensor->storage->core);
  DelayCopy(size);
  std::memcpy(buffer, tensor->data() + offset, size);
  return NRT_SUCCESS;
}
EXPORT NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buffer, size_t offset,
                                   size_t size) {
  if (!Uses("nrt_tensor_write", tensor)) return NRT_INVALID_HANDLE;
  if (offset + size > tensor->size) {
    Violate("nrt_tensor_write beyond the tensor");
    return NRT_INVALID;
  }
  Record("nrt_tensor_write ", size);
  const Activity activity(recorder().writing, recorder().most_writing, tensor->storage->core);
  DelayCopy(size);
  std::memcpy(tensor->data() + offset, buffer, size);
  return NRT_SUCCESS;
}

namespace {

// One execution of a text program.
class Execution {
 public:
  Execution(const Set* inputs, const Set* outputs) : inputs_(inputs), outputs_(outputs) {}
  NRT_STATUS Run(const std::string& text);

 private:
  nrt_tensor* Find(const std::string& name) {
    for (const Set* set : {inputs_, outputs_}) {
      if (const auto at = set->find(name); at != set->end()) return at->second;
    }
    return nullptr;
  }
  int64_t Slot(int slot) {
    int64_t value = 0;
    nrt_tensor* scalars = Find("scalars");
    if (scalars == nullptr) return 0;
    std::memcpy(&value, scalars->data() + static_cast<size_t>(slot) * 8, 8);
    return value;
  }
  char* Data(const std::string& name, size_t bytes) {
    nrt_tensor* tensor = Find(name);
    if (tensor == nullptr) return nullptr;
    const int slot = declared_.count(name) ? declared_.at(name).slot : -1;
    const size_t offset = slot >= 0 ? static_cast<size_t>(Slot(slot)) : 0;
    return offset + bytes <= tensor->size ? tensor->data() + offset : nullptr;
  }

  const Set* inputs_;
  const Set* outputs_;
  std::map<std::string, Declared> declared_;
};

NRT_STATUS Execution::Run(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string command, to, from, other;
    words >> command;
    if (command == "tensor") {
      Declared declared{};
      words >> to >> declared.bytes >> declared.slot;
      declared_[to] = declared;
    } else if (command == "copy") {
      size_t bytes = 0;
      words >> to >> from >> bytes;
      char* target = Data(to, bytes);
      const char* source = Data(from, bytes);
      if (!target || !source) return NRT_EXEC_BAD_INPUT;
      std::memcpy(target, source, bytes);
    } else if (command == "add" || command == "add_scalar") {
      size_t count = 0;
      float scalar = 0;
      words >> to >> from;
      if (command == "add") words >> other;
      words >> count;
      auto* target = reinterpret_cast<float*>(Data(to, count * 4));
      const auto* a = reinterpret_cast<const float*>(Data(from, count * 4));
      const float* b = nullptr;
      if (command == "add") {
        b = reinterpret_cast<const float*>(Data(other, count * 4));
      } else {
        int slot = 0;
        words >> slot;
        const int64_t bits = Slot(slot);
        std::memcpy(&scalar, &bits, 4);
      }
      if (!target || !a || (command == "add" && !b)) return NRT_EXEC_BAD_INPUT;
      for (size_t i = 0; i < count; ++i) target[i] = a[i] + (b ? b[i] : scalar);
    } else if (command == "iota") {
      int32_t count = 0;
      words >> to >> count;
      auto* target = reinterpret_cast<int32_t*>(Data(to, static_cast<size_t>(count) * 4));
      if (!target) return NRT_EXEC_BAD_INPUT;
      for (int32_t i = 0; i < count; ++i) target[i] = i;
    } else if (command == "words") {
      words >> to;
      std::vector<int32_t> values;
      for (int32_t value = 0; words >> value;) values.push_back(value);
      const size_t bytes = values.size() * sizeof(int32_t);
      void* target = Data(to, bytes);
      if (!target) return NRT_EXEC_BAD_INPUT;
      std::memcpy(target, values.data(), bytes);
    } else if (command == "sleep") {
      int64_t microseconds = 0;
      words >> microseconds;
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    } else if (command == "fail") {
      int status = 0;
      words >> status;
      return static_cast<NRT_STATUS>(status);
    }
  }
  return NRT_SUCCESS;
}

}  // namespace

EXPORT NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* inputs,
                              nrt_tensor_set_t* outputs) {
  if (!Uses("nrt_execute", model)) return NRT_INVALID_HANDLE;
  for (const nrt_tensor_set_t* set : {inputs, static_cast<const nrt_tensor_set_t*>(outputs)}) {
    if (!Uses("nrt_execute with a set", set)) return NRT_INVALID_HANDLE;
    for (const auto& [name, tensor] : *static_cast<const Set*>(set))
      if (!Uses(("nrt_execute with tensor " + name).c_str(), tensor)) return NRT_INVALID_HANDLE;
  }
  Record("nrt_execute ", model->id);
  const Activity activity(recorder().executing, recorder().most_executing, model->core);
  return Execution(static_cast<const Set*>(inputs), static_cast<const Set*>(outputs))
      .Run(model->text);
}
