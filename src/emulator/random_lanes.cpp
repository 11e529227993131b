#include "emulator/random_lanes.h"

namespace neuron::emulator {

void RandomLanes::Seed(uint32_t seed) {
  states_.assign(static_cast<size_t>(isa::kPartitions) * static_cast<size_t>(generators_), {});
  // SplitMix64 (Steele, Lea and Flood, 2014) over seed and position: no state is all zero, which
  // xorshift could not leave.
  uint64_t counter = (uint64_t{seed} << 32) | 0x9e3779b9u;
  for (Xorwow& state : states_)
    for (uint32_t& word : state.word) {
      counter += 0x9e3779b97f4a7c15u;
      uint64_t z = counter;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = static_cast<uint32_t>((z ^ (z >> 31)) >> 32) | 1u;
    }
}

void RandomLanes::Fill(int64_t at, uint32_t* words, int64_t n) {
  Xorwow* const generators = lane(at);
  for (int64_t i = 0; i < n; ++i) words[i] = generators[i % generators_].Next();
}

}  // namespace neuron::emulator
