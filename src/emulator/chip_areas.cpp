#include "emulator/chip_areas.h"

#include <algorithm>

namespace neuron::emulator {
namespace {

bool Contains(const Region& outer, const Region& inner) {
  return outer.memory == inner.memory && outer.first_partition <= inner.first_partition &&
         outer.last_partition >= inner.last_partition && outer.begin <= inner.begin &&
         outer.end >= inner.end;
}

}  // namespace

void ChipAreas::Add(const Region& region) {
  for (const Region& held : regions_)
    if (Contains(held, region)) return;
  std::erase_if(regions_, [&](const Region& held) { return Contains(region, held); });
  regions_.push_back(region);
}

void ChipAreas::Add(const ChipAreas& other) {
  for (const Region& region : other.regions_) Add(region);
}

void ChipAreas::AddAll() {
  constexpr int64_t kFar = int64_t{1} << 40;  // beyond any partition
  regions_.clear();
  for (const isa::Memory memory : {isa::Memory::kSbuf, isa::Memory::kPsum})
    regions_.push_back({memory, 0, isa::kPartitions, -kFar, kFar});
}

// What is left of a rectangle: above, below, and on both sides between.
void ChipAreas::Remove(const Region& region) {
  const size_t count = regions_.size();
  for (size_t i = 0; i < count; ++i) {
    const Region held = regions_[i];
    if (!held.Overlaps(region)) continue;
    const auto keep = [&](int64_t first, int64_t last, int64_t begin, int64_t end) {
      if (first < last && begin < end) regions_.push_back({held.memory, first, last, begin, end});
    };
    const int64_t first = std::max(held.first_partition, region.first_partition);
    const int64_t last = std::min(held.last_partition, region.last_partition);
    keep(held.first_partition, first, held.begin, held.end);
    keep(last, held.last_partition, held.begin, held.end);
    keep(first, last, held.begin, region.begin);
    keep(first, last, region.end, held.end);
    regions_[i].end = regions_[i].begin;  // empty
  }
  std::erase_if(regions_, [](const Region& held) { return held.begin == held.end; });
}

bool ChipAreas::Touches(const Region& region) const {
  return std::any_of(regions_.begin(), regions_.end(),
                     [&](const Region& held) { return held.Overlaps(region); });
}

}  // namespace neuron::emulator
