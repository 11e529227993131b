#include "isa/overlap.h"

#include <algorithm>
#include <vector>

namespace neuron::isa {
namespace {

// The walk with rows first, size 1 dropped and neighbours that continue joined.
std::vector<Dim> WalkOf(const AccessPattern& tile) {
  std::vector<Dim> walk;
  const auto add = [&walk](int64_t step, int64_t count) {
    if (count == 1) return;
    if (!walk.empty() && walk.back().step == step * count) {
      walk.back() = {step, Count(walk.back().count.max * count)};
    } else {
      walk.push_back({step, Count(count)});
    }
  };
  if (tile.memory == Memory::kHbm) add(tile.partition_step, tile.partitions.max);
  for (int i = 0; i < tile.num_dims; ++i) add(tile.dims[i].step, tile.dims[i].count.max);
  return walk;
}

// The first byte of each element, from the offset's constant part.
std::vector<int64_t> ElementsOf(const AccessPattern& tile) {
  std::vector<int64_t> at{tile.offset.base};
  const int64_t size = ByteSize(tile.dtype);
  for (const Dim& dim : WalkOf(tile)) {
    std::vector<int64_t> next;
    next.reserve(at.size() * static_cast<size_t>(dim.count.max));
    for (const int64_t begin : at)
      for (int64_t i = 0; i < dim.count.max; ++i) next.push_back(begin + i * dim.step * size);
    at = std::move(next);
  }
  std::sort(at.begin(), at.end());
  return at;
}

bool SharesBytes(const AccessPattern& a, const AccessPattern& b) {
  const std::vector<int64_t> first = ElementsOf(a);
  const std::vector<int64_t> second = ElementsOf(b);
  const int64_t first_size = ByteSize(a.dtype);
  const int64_t second_size = ByteSize(b.dtype);
  for (size_t i = 0, j = 0; i < first.size() && j < second.size();) {
    if (first[i] + first_size <= second[j]) {
      ++i;
    } else if (second[j] + second_size <= first[i]) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

bool Dynamic(const AccessPattern& tile) {
  if (tile.partition_step_from != kNoRegister) return true;
  return std::any_of(tile.dims.begin(), tile.dims.begin() + tile.num_dims,
                     [](const Dim& dim) { return dim.step_from != kNoRegister; });
}

// Elements that are walked one by one to see whether two patterns interleave or overlap.
constexpr int64_t kMostCompared = int64_t{1} << 18;

int64_t SizeOf(const AccessPattern& tile) {
  const int64_t rows = tile.memory == Memory::kHbm ? std::max(tile.partitions.max, 1) : 1;
  return rows * tile.MaxElementsPerPartition();
}

}  // namespace

Overlap OverlapOf(const AccessPattern& a, const AccessPattern& b) {
  if (a.memory != b.memory) return Overlap::kNone;
  const bool hbm = a.memory == Memory::kHbm;
  if (hbm && a.tensor != b.tensor) return Overlap::kNone;
  if (!hbm && (a.start_partition + a.partitions.max <= b.start_partition ||
               b.start_partition + b.partitions.max <= a.start_partition))
    return Overlap::kNone;
  if (a == b) return Overlap::kSame;
  if (Dynamic(a) || Dynamic(b)) return Overlap::kUnknown;
  Affine moved = a.offset;
  moved.base = b.offset.base;
  if (moved != b.offset) return Overlap::kUnknown;
  const bool same_rows =
      hbm || (a.start_partition == b.start_partition && a.partitions.max == b.partitions.max);
  if (a.dtype == b.dtype && a.offset.base == b.offset.base && same_rows && WalkOf(a) == WalkOf(b))
    return Overlap::kSame;
  const ByteRange first = Footprint(a, nullptr);
  const ByteRange second = Footprint(b, nullptr);
  if (first.end <= second.begin || second.end <= first.begin) return Overlap::kNone;
  if (SizeOf(a) > kMostCompared || SizeOf(b) > kMostCompared) return Overlap::kUnknown;
  return SharesBytes(a, b) ? Overlap::kPartial : Overlap::kNone;
}

}  // namespace neuron::isa
