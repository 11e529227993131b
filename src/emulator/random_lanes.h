// Random generators of an engine: in each of its 128 lanes one or more XORWOW (G. Marsaglia,
// Xorshift RNGs, 2003), whose states persist from instruction to instruction. What a seed expands
// to, and that elements take a lane's generators in turn, is ours: the chip's bit streams are not
// public.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/target.h"

namespace neuron::emulator {

struct Xorwow {
  static constexpr int kWords = 6;
  uint32_t word[kWords] = {};  // x, y, z, w, v and the counter d

  uint32_t Next() {
    const uint32_t t = word[0] ^ (word[0] >> 2);
    for (int i = 0; i < 4; ++i) word[i] = word[i + 1];
    word[4] = (word[4] ^ (word[4] << 4)) ^ (t ^ (t << 1));
    word[5] += 362437;
    return word[4] + word[5];
  }
};

class RandomLanes {
 public:
  explicit RandomLanes(int generators) : generators_(generators) { Seed(0); }

  int generators() const { return generators_; }
  void Seed(uint32_t seed);
  // Of a lane, in rand_set_state's order.
  Xorwow* lane(int64_t lane) { return states_.data() + lane * generators_; }
  // n words of a lane.
  void Fill(int64_t lane, uint32_t* words, int64_t n);

 private:
  const int generators_;
  std::vector<Xorwow> states_;
};

// A word as a fraction in [0, 1): its 24 high bits.
inline float Uniform(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

}  // namespace neuron::emulator
