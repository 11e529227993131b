#include "emulator/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "isa/target.h"

namespace neuron::emulator {
namespace {
constexpr int64_t kGranule = 4096;
constexpr int64_t kHugePage = 2 << 20;
// Blocks of this size return their pages to the host when freed.
constexpr int64_t kReleaseBytes = 4 * kHugePage;

constexpr int64_t RoundUp(int64_t x, int64_t to) { return (x + to - 1) / to * to; }
}  // namespace

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

StatusOr<Mapping> Mapping::Reserve(int64_t bytes, bool accessible) {
  bytes = RoundUp(bytes, kHugePage);
  // One huge page more than needed: the start can then be aligned to one.
  void* raw = mmap(nullptr, bytes + kHugePage, accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED)
    return ResourceExhausted("the host refused to reserve ", bytes,
                             " bytes of address space: ", std::strerror(errno));
  char* begin = static_cast<char*>(raw);
  const int64_t skip =
      RoundUp(reinterpret_cast<intptr_t>(raw), kHugePage) - reinterpret_cast<intptr_t>(raw);
  if (skip > 0) munmap(begin, skip);
  if (skip < kHugePage) munmap(begin + skip + bytes, kHugePage - skip);
  if (accessible) madvise(begin + skip, bytes, MADV_HUGEPAGE);
  Mapping mapping;
  mapping.data_ = begin + skip;
  mapping.bytes_ = bytes;
  return mapping;
}

StatusOr<OnChipMemory> OnChipMemory::Create(int64_t bytes_per_partition) {
  OnChipMemory memory;
  memory.pitch_ = bytes_per_partition + kPad;
  NEURON_ASSIGN_OR_RETURN(memory.mapping_,
                          Mapping::Reserve(memory.pitch_ * isa::kPartitions, true));
  return memory;
}

Status Hbm::Reserve() {
  if (memory_.data() != nullptr) return OkStatus();
  NEURON_ASSIGN_OR_RETURN(memory_, Mapping::Reserve(capacity_, true));
  if (guard_) {
    NEURON_ASSIGN_OR_RETURN(addresses_, Mapping::Reserve(capacity_, false));
  }
  free_[0] = capacity_ / kGranule * kGranule;
  return OkStatus();
}

StatusOr<Hbm::Block> Hbm::Allocate(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  NEURON_RETURN_IF_ERROR(Reserve());
  const int64_t size = RoundUp(std::max<int64_t>(bytes, 1), kGranule);
  const auto fit = std::find_if(free_.begin(), free_.end(),
                                [&](const auto& range) { return range.second >= size; });
  if (fit == free_.end()) {
    int64_t largest = 0;
    for (const auto& [offset, length] : free_) largest = std::max(largest, length);
    return ResourceExhausted("HBM: ", bytes, " bytes requested, ", capacity_ - used_, " of ",
                             capacity_, " free, largest free range ", largest,
                             "; the limit is the chip's HBM per logical core");
  }
  const int64_t offset = fit->first;
  const int64_t left = fit->second - size;
  free_.erase(fit);
  if (left > 0) free_[offset + size] = left;
  used_ += size;
  peak_ = std::max(peak_, used_);
  char* host = memory_.data() + offset;
  return Block{host, guard_ ? addresses_.data() + offset : host, size};
}

void Hbm::Free(const Block& block) {
  const std::lock_guard lock(mutex_);
  if (block.bytes >= kReleaseBytes) madvise(block.host, block.bytes, MADV_DONTNEED);
  int64_t offset = block.host - memory_.data();
  int64_t length = block.bytes;
  used_ -= length;
  auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      length += previous->second;
      free_.erase(previous);
    }
  }
  if (next != free_.end() && next->first == offset + length) {
    length += next->second;
    free_.erase(next);
  }
  free_[offset] = length;
}

int64_t Hbm::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

int64_t Hbm::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace neuron::emulator
