#include "runtime/allocator.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "runtime/event.h"  // IWYU pragma: keep (allocator.h only declares the type)
#include "runtime/segment_memory.h"

namespace neuron::runtime {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kSmallLimit = kMiB;   // blocks up to this size live in small segments
constexpr int64_t kGranule = 2 * kMiB;  // segments are multiples: the size of a huge page
constexpr int64_t kSmallSegment = 2 * kMiB, kSmallSegmentMax = 64 * kMiB;
constexpr int64_t kLargeSegment = 32 * kMiB, kLargeSegmentMax = 1024 * kMiB;
constexpr int64_t kMaxRequest = int64_t{1} << 46;

int64_t RoundUp(int64_t bytes, int64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

std::string Amount(int64_t bytes) {
  std::array<char, 32> text{};
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1024 * kMiB)
    std::snprintf(text.data(), text.size(), "%.2f GiB", value / (1024.0 * kMiB));
  else if (bytes >= kMiB)
    std::snprintf(text.data(), text.size(), "%.2f MiB", value / static_cast<double>(kMiB));
  else
    std::snprintf(text.data(), text.size(), "%lld bytes", static_cast<long long>(bytes));
  return text.data();
}

}  // namespace

Allocator::Allocator(const nrt::Library& nrt, int device, int64_t total_bytes, Hooks hooks)
    : nrt_(nrt), device_(device), total_bytes_(total_bytes), hooks_(std::move(hooks)) {}

Allocator::Pools& Allocator::PoolsOf(StreamId stream) {
  const auto index = static_cast<size_t>(stream);
  if (index >= pools_.size()) [[unlikely]]
    pools_.resize(index + 1);
  if (pools_[index] == nullptr) [[unlikely]]
    pools_[index] = std::make_unique<Pools>(store_);
  return *pools_[index];
}

Block* Allocator::TakeLocked(Pools& pools, bool small, int64_t bytes) {
  Block* block = (small ? pools.small : pools.large).Take(bytes);
  if (block == nullptr) return nullptr;
  in_use_.Insert(block);
  statistics_.allocated_bytes += block->bytes;
  statistics_.peak_allocated_bytes =
      std::max(statistics_.peak_allocated_bytes, statistics_.allocated_bytes);
  ++statistics_.active_blocks;
  ++statistics_.allocations;
  return block;
}

StatusOr<void*> Allocator::Allocate(int64_t bytes, StreamId stream) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes < 0 || stream < 0)
    return InvalidArgument("Allocate: bytes and stream must not be negative, got ", bytes, " and ",
                           stream);
  if (bytes > kMaxRequest)
    return OutOfMemory(bytes, ResourceExhausted("the request exceeds any device"));
  const int64_t size = RoundUp(bytes, kAlignment);
  const bool small = size <= kSmallLimit;
  // Larger segments first; then just what is needed; then that after giving back all caches.
  for (int attempt = 0;; ++attempt) {
    {
      std::lock_guard lock(mutex_);
      if (!waiting_.empty()) ReturnFinishedLocked();
      if (Block* block = TakeLocked(PoolsOf(stream), small, size)) {
        block->requested = bytes;
        // Numbers come from the segments' bases, which may be no memory of this process.
        return reinterpret_cast<void*>(block->address);  // NOLINT(performance-no-int-to-ptr)
      }
    }
    Status grown = Grow(size, stream, small, attempt > 0);
    if (grown.ok()) continue;
    if (!IsResourceExhausted(grown)) return grown;
    if (attempt == 0) continue;
    if (attempt == 1) {
      {
        std::lock_guard lock(mutex_);
        ++statistics_.retries;
      }
      EmptyCache();
      continue;
    }
    return OutOfMemory(bytes, grown);
  }
}

Status Allocator::Grow(int64_t bytes, StreamId stream, bool small, bool smallest) {
  int64_t size = RoundUp(bytes, kGranule);
  if (!smallest) {
    // Segments grow with the pool, so that their number, and with it the number of tensor sets
    // that launches need, stays logarithmic. HBM is only reserved until it is written.
    std::lock_guard lock(mutex_);
    const Pools& pools = PoolsOf(stream);
    const int64_t wanted =
        small ? std::clamp(pools.small_reserved, kSmallSegment, kSmallSegmentMax)
              : std::clamp(pools.large_reserved / 2, kLargeSegment, kLargeSegmentMax);
    size = std::max(size, RoundUp(wanted, kGranule));
  }
  NEURON_ASSIGN_OR_RETURN(Segment * segment, AllocateSegment(nrt_, device_, size));
  segment->stream = stream;
  segment->small = small;
  std::lock_guard lock(mutex_);
  Pools& pools = PoolsOf(stream);
  Block* block = store_.New();
  block->address = segment->base;
  block->bytes = size;
  block->segment = segment;
  block->pool = small ? &pools.small : &pools.large;
  segment->first = block;
  segments_.push_back(segment);
  (small ? pools.small_reserved : pools.large_reserved) += size;
  statistics_.reserved_bytes += size;
  statistics_.peak_reserved_bytes =
      std::max(statistics_.peak_reserved_bytes, statistics_.reserved_bytes);
  statistics_.segments = static_cast<int64_t>(segments_.size());
  block->pool->Give(block);
  return OkStatus();
}

Status Allocator::OutOfMemory(int64_t requested, const Status& cause) {
  const int64_t free = FreeBytes();
  std::lock_guard lock(mutex_);
  ++statistics_.out_of_memory;
  const int64_t cached = statistics_.reserved_bytes - statistics_.allocated_bytes;
  return ResourceExhausted(
      "neuron out of memory. Tried to allocate ", Amount(requested), " on neuron:", device_,
      ", which has a total of ", Amount(total_bytes_), " of HBM, of which ", Amount(free),
      " is free. ", Amount(statistics_.allocated_bytes), " is in use by tensors, and ",
      Amount(cached), " is reserved by torchneuron but unused. Limit met: ", cause.message(),
      cached > requested ? ". Reserved memory is fragmented: torch.neuron.memory_snapshot() shows "
                           "where"
                         : "");
}

void Allocator::GiveLocked(Block* block) {
  block->foreign = false;
  block->streams.clear();
  Block* joined = block->pool->Give(block);
  if (joined->lower == nullptr) joined->segment->first = joined;
}

bool Allocator::Free(void* pointer) {
  if (pointer == nullptr) return true;
  Block* block;
  {
    std::lock_guard lock(mutex_);
    block = in_use_.Remove(reinterpret_cast<uintptr_t>(pointer));
    if (block == nullptr) return false;
    statistics_.allocated_bytes -= block->bytes;
    --statistics_.active_blocks;
    ++statistics_.frees;
    if (!block->foreign) [[likely]] {
      GiveLocked(block);
      return true;
    }
  }
  Waiting waiting{block, {}};
  for (const StreamId stream : block->streams)
    waiting.events.push_back(hooks_.record_event(stream));
  std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(waiting));
  return true;
}

void Allocator::ReturnFinishedLocked() {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    const bool done = std::all_of(waiting.events.begin(), waiting.events.end(),
                                  [](const auto& event) { return event->done(); });
    if (done) GiveLocked(waiting.block);
    return done;
  });
}

void Allocator::RecordStream(void* pointer, StreamId stream) {
  std::lock_guard lock(mutex_);
  Block* block = in_use_.Find(reinterpret_cast<uintptr_t>(pointer));
  if (block == nullptr || block->segment->stream == stream) return;
  block->foreign = true;
  if (std::find(block->streams.begin(), block->streams.end(), stream) == block->streams.end())
    block->streams.push_back(stream);
}

int64_t Allocator::SizeOf(const void* pointer) const {
  std::lock_guard lock(mutex_);
  const Block* block = in_use_.Find(reinterpret_cast<uintptr_t>(pointer));
  return block ? block->bytes : 0;
}

int64_t Allocator::EmptyCache() {
  hooks_.synchronize();
  std::vector<Segment*> released;
  int64_t bytes = 0;
  {
    std::lock_guard lock(mutex_);
    ReturnFinishedLocked();
    std::erase_if(segments_, [&](Segment* segment) {
      Block* block = segment->first;
      if (!block->free || block->upper != nullptr) return false;
      block->pool->Remove(block);
      store_.Delete(block);
      Pools& pools = PoolsOf(segment->stream);
      (segment->small ? pools.small_reserved : pools.large_reserved) -= segment->bytes;
      bytes += segment->bytes;
      released.push_back(segment);
      return true;
    });
    statistics_.reserved_bytes -= bytes;
    statistics_.segments = static_cast<int64_t>(segments_.size());
  }
  if (released.empty()) return 0;
  // Another thread may have queued a launch on such memory and freed it since the first wait;
  // nothing new can, since the segments are out of the pools.
  hooks_.synchronize();
  hooks_.before_release(released);
  for (Segment* segment : released) ReleaseSegment(nrt_, segment);
  return bytes;
}

int64_t Allocator::FreeBytes() const {
  nrt_vnc_memory_stats_t stats{};
  size_t size = 0;
  if (nrt_.nrt_get_vnc_memory_stats != nullptr &&
      nrt_.nrt_get_vnc_memory_stats(static_cast<uint32_t>(device_), &stats, sizeof(stats), &size) ==
          NRT_SUCCESS &&
      stats.bytes_limit >= stats.bytes_used)
    return static_cast<int64_t>(stats.bytes_limit - stats.bytes_used);
  std::lock_guard lock(mutex_);
  return std::max<int64_t>(0, total_bytes_ - statistics_.reserved_bytes);
}

MemoryStatistics Allocator::Statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

void Allocator::ResetPeakStatistics() {
  std::lock_guard lock(mutex_);
  statistics_.peak_allocated_bytes = statistics_.allocated_bytes;
  statistics_.peak_reserved_bytes = statistics_.reserved_bytes;
}

std::string Allocator::SnapshotJson() const {
  std::lock_guard lock(mutex_);
  std::ostringstream out;
  out << "{\"device\":" << device_ << ",\"segments\":[";
  const char* comma = "";
  for (const Segment* segment : segments_) {
    out << comma << "{\"address\":" << segment->base << ",\"total_size\":" << segment->bytes
        << ",\"stream\":" << segment->stream << ",\"segment_type\":\""
        << (segment->small ? "small" : "large") << "\",\"blocks\":[";
    comma = "";
    int64_t in_use = 0;
    for (const Block* block = segment->first; block != nullptr; block = block->upper) {
      const bool waiting = !block->free && in_use_.Find(block->address) == nullptr;
      in_use += block->free || waiting ? 0 : block->bytes;
      out << comma << "{\"address\":" << block->address << ",\"size\":" << block->bytes
          << ",\"requested_size\":" << (block->free ? 0 : block->requested) << ",\"state\":\""
          << (block->free ? "inactive"
              : waiting   ? "active_pending_free"
                          : "active_allocated")
          << "\"}";
      comma = ",";
    }
    out << "],\"allocated_size\":" << in_use << "}";
    comma = ",";
  }
  out << "]}";
  return std::move(out).str();
}

}  // namespace neuron::runtime
